// A matrix in host memory that was read or made by a face of tilewise.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "tilewise/epilogue.h"
#include "tilewise/result.h"
#include "tilewise/types.h"

namespace tilewise {

// A view (rows, columns) with its owner: a mapped file or a buffer.
struct Matrix {
  Type type = Type::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Strides strides;         // elements
  int num_dimensions = 2;  // of the file; one dimension is a single column
  const void* data = nullptr;
  std::shared_ptr<const void> owner;
};

// A zeroed buffer aligned to 64 bytes; null for 0 bytes. Errors: more than this process may still
// take (checked first, so that nothing is allocated), or the system refuses. what: "A", "the
// result".
[[nodiscard]] Result<std::shared_ptr<void>> allocate_bytes(std::int64_t bytes,
                                                           std::string_view what);

// The product of extents and element size. Errors: past 63 bits.
[[nodiscard]] Result<std::int64_t> matrix_bytes(std::int64_t rows, std::int64_t columns, Type type,
                                                std::string_view what);

// Bytes this process may still take: free memory, the container's limit, the address-space limit.
[[nodiscard]] std::int64_t available_memory_bytes();

[[nodiscard]] inline Matrix transposed(Matrix matrix) {
  std::swap(matrix.rows, matrix.columns);
  std::swap(matrix.strides.row, matrix.strides.column);
  return matrix;
}

// The element as a double, whatever the type.
[[nodiscard]] double element(const Matrix& matrix, std::int64_t row, std::int64_t column);

// A dense row-major copy in another type, rounded to nearest even (the same matrix if it has the
// type).
[[nodiscard]] Result<Matrix> converted(const Matrix& matrix, Type type, std::string_view what);

}  // namespace tilewise
