// NumPy's C interface, in one place.
#pragma once

#include <nanobind/nanobind.h>

#include "array_view.h"

namespace tilewise::python {

// Throws python_error where NumPy cannot be imported.
void import_numpy();

// False where the object is no NumPy array. Throws as view_array does.
bool view_numpy(PyObject* object, std::string_view what, ArrayView& view);

// Whether it is a real NumPy scalar, as np.float32(2) is.
[[nodiscard]] bool is_numpy_number(PyObject* object);

[[nodiscard]] nanobind::object new_numpy(const std::int64_t* shape, int num_dims, Type type);

// A NumPy element type, from a dtype or what np.dtype() takes; TypeError for others.
[[nodiscard]] Type type_of_dtype(PyObject* dtype, std::string_view what);

}  // namespace tilewise::python
