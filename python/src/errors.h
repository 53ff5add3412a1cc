// The library's errors as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <utility>

#include "tilewise/result.h"

namespace tilewise::python {

// Sets the exception: ValueError for a bad request (OverflowError where a count exceeds 127 bits),
// RuntimeError for what this machine lacks and for defects, MemoryError.
void set_error(const Error& error);

// The same, thrown as nanobind wants it.
[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise(PyObject* type, const std::string& message);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace tilewise::python
