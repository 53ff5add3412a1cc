#include "errors.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

PyObject* exception_type(const Error& error) {
  switch (error.code) {
    case ErrorCode::bad_request:
      // The library's counts end at 2^127 - 1, and its messages say so.
      return error.message.find("2^127") != std::string::npos ? PyExc_OverflowError
                                                              : PyExc_ValueError;
    case ErrorCode::out_of_memory:
      return PyExc_MemoryError;
    case ErrorCode::missing_capability:
    case ErrorCode::verification_failed:
    case ErrorCode::internal:
      break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void set_error(const Error& error) {
  PyErr_SetString(exception_type(error), error.message.c_str());
}

void raise(const Error& error) {
  set_error(error);
  throw nb::python_error();
}

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

}  // namespace tilewise::python
