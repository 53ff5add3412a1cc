#include "matmul.h"

#include <string>

#include "errors.h"
#include "product_call.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

// The keywords, in the order of CallArguments.
constexpr const char* kNames[] = {"a",     "b",       "out",      "epilogue", "operands",
                                  "dtype", "compute", "schedule", "device",   "stream"};
constexpr int kNumNames = std::size(kNames);
PyObject* interned_names[kNumNames];

PyObject*& argument_at(CallArguments& arguments, int index) {
  PyObject** const slots[kNumNames] = {&arguments.a,        &arguments.b,        &arguments.out,
                                       &arguments.epilogue, &arguments.operands, &arguments.dtype,
                                       &arguments.compute,  &arguments.schedule, &arguments.device,
                                       &arguments.stream};
  return *slots[index];
}

int index_of(PyObject* name) {
  for (int i = 0; i < kNumNames; ++i) {
    if (name == interned_names[i]) return i;
  }
  for (int i = 0; i < kNumNames; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, kNames[i]) == 0) return i;
  }
  raise(PyExc_TypeError, "matmul() got an unexpected keyword argument '" +
                             nb::cast<std::string>(nb::str(nb::handle(name))) + "'");
}

CallArguments read_arguments(PyObject* const* values, Py_ssize_t num_positional, PyObject* names) {
  if (num_positional > 2) {
    raise(PyExc_TypeError, "matmul() takes 2 positional arguments, but " +
                               std::to_string(num_positional) +
                               " were given; all but a and b are keywords");
  }
  CallArguments arguments;
  for (Py_ssize_t i = 0; i < num_positional; ++i) {
    argument_at(arguments, static_cast<int>(i)) = values[i];
  }
  const Py_ssize_t num_named = names != nullptr ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < num_named; ++i) {
    const int index = index_of(PyTuple_GetItem(names, i));
    PyObject*& argument = argument_at(arguments, index);
    if (argument != nullptr) {
      raise(PyExc_TypeError,
            std::string("matmul() got multiple values for argument '") + kNames[index] + "'");
    }
    PyObject* const value = values[num_positional + i];
    if (index < 2 || value != Py_None) argument = value;
  }
  if (arguments.a == nullptr || arguments.b == nullptr) {
    raise(PyExc_TypeError,
          std::string("matmul() misses argument '") + (arguments.a == nullptr ? "a" : "b") + "'");
  }
  return arguments;
}

// Runs a body that throws as nanobind does.
template <class Body>
PyObject* guarded(const Body& body) {
  try {
    return body().release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "matmul: an argument is not what its protocol promises");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* matmul(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    ProductCall call(read_arguments(values, count, names));
    call.resolve(true);
    return call.run();
  });
}

PyObject* describe_matmul(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    ProductCall call(read_arguments(values, count, names));
    call.resolve(false);
    return call.describe();
  });
}

PyObject* check_matmul(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    ProductCall call(read_arguments(values, count, names));
    call.resolve(false);
    return nb::none();
  });
}

constexpr const char* kMatmulDoc =
    R"doc(matmul($module, a, b, *, out=None, epilogue=None, operands=None,
       dtype=None, compute=None, schedule=None, device=None, stream=None)
--

The product of two arrays, with what follows it fused in: D = epilogue(A B, C, operands).

a         (..., m, k), or (k,) as one row
b         (..., k, n), or (k,) as one column; batch dimensions broadcast as in np.matmul
out       (..., m, n), written and returned; it may be exactly C or an [m,n] operand
epilogue  an expression, like "gelu(acc + bias[n]) + residual[m,n]" (docs/epilogue.md)
operands  what it names: {"bias": (n,), "residual": (..., m, n), "c": (..., m, n), "alpha": 2.0}
dtype     of the result; by default that of a and b, float32 where they differ
compute   "f32", "tf32", "f64", ...; float32 means float32 accuracy unless another is named here
schedule  a name of tilewise.schedules() or a Schedule; by default the library chooses
device    "cpu" or "gpu": where the arrays are, for a check; stream: a CUDA stream (an integer, or
          one of PyTorch or CuPy), by default the current one of the arrays' library

Arrays are NumPy's, or anything with DLPack or __cuda_array_interface__; float16, bfloat16
(ml_dtypes), float32, float64. The result is of the kind of a. Sums are float32 or wider. Any
strides: an array without contiguous rows or columns, or with negative or zero strides, is copied
once (tilewise.plan says so), nothing else is. The GIL is released. 2 m n k FLOPs a matrix.

Raises ValueError (shapes, strides, overlap, names), TypeError (element types), RuntimeError (what
this machine lacks), MemoryError. Nothing is written on error.

>>> import numpy as np, tilewise
>>> a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
>>> tilewise.matmul(a, b, epilogue="relu(acc + bias[n])", operands={"bias": np.arange(4.0)})
array([[3., 4., 5., 6.],
       [3., 4., 5., 6.]], dtype=float32)
)doc";

PyCFunction as_function(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"matmul", as_function(matmul), METH_FASTCALL | METH_KEYWORDS, kMatmulDoc},
    {"describe_matmul", as_function(describe_matmul), METH_FASTCALL | METH_KEYWORDS,
     "What matmul of these arguments would run, as a dict; nothing is computed."},
    {"check_matmul", as_function(check_matmul), METH_FASTCALL | METH_KEYWORDS,
     "Raises what matmul of these arguments would raise of them; nothing is computed."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_matmul(nb::module_& module) {
  for (int i = 0; i < kNumNames; ++i) interned_names[i] = PyUnicode_InternFromString(kNames[i]);
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw nb::python_error();
}

}  // namespace tilewise::python
