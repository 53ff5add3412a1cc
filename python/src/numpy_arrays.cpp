#include "numpy_arrays.h"

#include <string>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include "errors.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

constexpr std::string_view kValidTypes =
    "valid are float16, bfloat16 (ml_dtypes), float32 and float64";

// Dtypes of ml_dtypes are known to NumPy by their type's name alone. `number` is given when the
// package registers them, so it is looked up when it is first met.
struct UserType {
  const char* name;
  Type type;
  PyArray_Descr* descr = nullptr;
};
UserType user_types[] = {
    {"bfloat16", Type::bf16}, {"float8_e4m3fn", Type::f8e4m3}, {"float8_e5m2", Type::f8e5m2}};

bool type_of_descr(PyArray_Descr* descr, Type& type) {
  if (PyArray_IsNativeByteOrder(descr->byteorder) == 0) return false;
  switch (descr->type_num) {
    case NPY_FLOAT:
      type = Type::f32;
      return true;
    case NPY_DOUBLE:
      type = Type::f64;
      return true;
    case NPY_HALF:
      type = Type::f16;
      return true;
    default:
      break;
  }
  if (descr->type_num < NPY_USERDEF) return false;
  for (UserType& known : user_types) {
    if (known.descr == descr) {
      type = known.type;
      return true;
    }
  }
  const nb::object name = nb::handle(reinterpret_cast<PyObject*>(descr->typeobj)).attr("__name__");
  const std::string text = nb::cast<std::string>(name);
  for (UserType& known : user_types) {
    if (text != known.name) continue;
    if (known.descr == nullptr) {
      Py_INCREF(reinterpret_cast<PyObject*>(descr));
      known.descr = descr;
    }
    type = known.type;
    return true;
  }
  return false;
}

[[noreturn]] void refuse_type(PyArray_Descr* descr, std::string_view what) {
  const std::string name =
      nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(descr))));
  const bool swapped = PyArray_IsNativeByteOrder(descr->byteorder) == 0;
  raise(PyExc_TypeError, "matmul: " + std::string(what) + " has dtype " + name + "; " +
                             std::string(kValidTypes) +
                             (swapped ? ", in this machine's byte order" : ""));
}

PyArray_Descr* new_descr(Type type) {
  switch (type) {
    case Type::f32:
      return PyArray_DescrFromType(NPY_FLOAT);
    case Type::f64:
      return PyArray_DescrFromType(NPY_DOUBLE);
    case Type::f16:
      return PyArray_DescrFromType(NPY_HALF);
    default:
      break;
  }
  for (UserType& known : user_types) {
    if (known.type != type) continue;
    if (known.descr == nullptr) {
      const nb::object scalar = nb::module_::import_("ml_dtypes").attr(known.name);
      PyArray_Descr* descr = nullptr;
      if (PyArray_DescrConverter(scalar.ptr(), &descr) == 0) throw nb::python_error();
      known.descr = descr;
    }
    Py_INCREF(reinterpret_cast<PyObject*>(known.descr));
    return known.descr;
  }
  raise(PyExc_TypeError, "matmul: NumPy has no such element type");
}

}  // namespace

void import_numpy() {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
}

bool view_numpy(PyObject* object, std::string_view what, ArrayView& view) {
  if (!PyArray_Check(object)) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  if (!PyArray_CheckExact(object) && nb::hasattr(nb::handle(object), "mask")) {
    raise(PyExc_TypeError, "matmul: " + std::string(what) +
                               " is a masked array; fill it (.filled(0)) or pass its .data");
  }
  PyArray_Descr* descr = PyArray_DESCR(array);
  if (!type_of_descr(descr, view.type)) refuse_type(descr, what);
  view.num_dims = PyArray_NDIM(array);
  if (view.num_dims > ArrayView::kMaxDims) {
    raise(PyExc_ValueError, "matmul: " + std::string(what) + " has " +
                                std::to_string(view.num_dims) + " dimensions; at most " +
                                std::to_string(ArrayView::kMaxDims) + " are taken");
  }
  view.data = PyArray_BYTES(array);
  const npy_intp* shape = PyArray_DIMS(array);
  const npy_intp* strides = PyArray_STRIDES(array);
  for (int i = 0; i < view.num_dims; ++i) {
    view.shape[i] = shape[i];
    view.strides[i] = strides[i];
  }
  view.memory = Memory::host;
  view.library = Library::numpy;
  view.writable = PyArray_ISWRITEABLE(array) != 0;
  view.object = object;
  return true;
}

bool is_numpy_number(PyObject* object) {
  return PyArray_CheckScalar(object) && !PyArray_Check(object) &&
         !PyArray_IsScalar(object, ComplexFloating) && !PyArray_IsScalar(object, Flexible);
}

nb::object new_numpy(const std::int64_t* shape, int num_dims, Type type) {
  static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
  PyObject* array = PyArray_NewFromDescr(
      &PyArray_Type, new_descr(type), num_dims,
      reinterpret_cast<npy_intp*>(const_cast<std::int64_t*>(shape)), nullptr, nullptr, 0, nullptr);
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);
}

Type type_of_dtype(PyObject* dtype, std::string_view what) {
  PyArray_Descr* descr = nullptr;
  if (PyArray_DescrConverter(dtype, &descr) == 0) throw nb::python_error();
  const nb::object keep = nb::steal(reinterpret_cast<PyObject*>(descr));
  Type type;
  if (!type_of_descr(descr, type)) refuse_type(descr, what);
  return type;
}

}  // namespace tilewise::python
