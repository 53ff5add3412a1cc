// Any array that Python code may hand us, seen as a pointer, a shape and strides.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tilewise/types.h"

namespace tilewise::python {

enum class Memory : std::uint8_t { host, gpu };

// What made the array, and so what its product should be.
enum class Library : std::uint8_t { numpy, dlpack_exchange, other };

struct ArrayView {
  static constexpr int kMaxDims = 16;

  char* data = nullptr;  // element (0, ..., 0)
  int num_dims = 0;
  std::int64_t shape[kMaxDims];
  std::int64_t strides[kMaxDims];  // in bytes; may be 0 or negative
  Type type = Type::f32;
  Memory memory = Memory::host;
  Library library = Library::numpy;
  bool writable = true;
  int device_index = 0;
  void* stream = nullptr;        // that its producer works on, where it says so
  PyObject* object = nullptr;    // borrowed
  nanobind::object keeps_alive;  // a capsule that lends shape and data
  nanobind::object resolved;     // a copy that `object` is, in place of a lazy negative

  [[nodiscard]] std::int64_t dim(int from_end) const { return shape[num_dims - from_end]; }
  [[nodiscard]] std::int64_t num_elements() const;
  // [first, last) of the bytes it reaches over; empty where it has no element.
  struct Extent {
    const char* begin = nullptr;
    const char* end = nullptr;
  };
  [[nodiscard]] Extent extent() const;
};

// Looks at NumPy's arrays, then at what has __dlpack_c_exchange_api__, __dlpack__ or
// __cuda_array_interface__. what: the argument's name, for messages. stream: the consumer's, for a
// producer that wants to wait. Throws python_error: TypeError (no array, or another element type),
// ValueError (more dimensions than kMaxDims).
void view_array(PyObject* object, std::string_view what, ArrayView& view, void* stream = nullptr);

// DLPack's element types; false for those that we do not multiply.
bool type_of_dlpack(std::uint8_t code, std::uint8_t bits, std::uint16_t lanes, Type& type);
void dlpack_of_type(Type type, std::uint8_t& code, std::uint8_t& bits);

// "(3, 4)".
[[nodiscard]] std::string shape_text(const std::int64_t* shape, int num_dims);

// A new uninitialised array of this library's kind on the same device. like: what view_array saw.
[[nodiscard]] nanobind::object new_array_like(const ArrayView& like, const std::int64_t* shape,
                                              int num_dims, Type type);

// "float32", "bfloat16": NumPy's names, for messages.
[[nodiscard]] std::string_view numpy_name(Type type);

}  // namespace tilewise::python
