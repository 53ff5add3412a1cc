#include "io/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "epilogue/element.h"

namespace tilewise {

Result<std::int64_t> matrix_bytes(std::int64_t rows, std::int64_t columns, Type type,
                                  std::string_view what) {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, columns, &elements) ||
      __builtin_mul_overflow(elements, std::int64_t{size_bytes(type)}, &bytes)) {
    return out_of_memory(fmt::format("{} of {} x {} {} elements is more bytes than 63 bits count",
                                     what, rows, columns, to_string(type)));
  }
  return bytes;
}

Result<std::shared_ptr<void>> allocate_bytes(std::int64_t bytes, std::string_view what) {
  constexpr std::size_t kAlignment = 64;
  if (bytes == 0) return std::shared_ptr<void>();
  const std::int64_t available = available_memory_bytes();
  const auto refusal = [&] {
    return out_of_memory(fmt::format("{} takes {} bytes, and {} bytes of memory are free here",
                                     what, bytes, available));
  };
  if (bytes > available) return refusal();
  const std::size_t rounded = (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment;
  void* data = std::aligned_alloc(kAlignment, rounded * kAlignment);
  if (data == nullptr) return refusal();
  std::memset(data, 0, static_cast<std::size_t>(bytes));
  return std::shared_ptr<void>(data, std::free);
}

double element(const Matrix& matrix, std::int64_t row, std::int64_t column) {
  double value = 0;
  load_elements(matrix.type, matrix.data, row * matrix.strides.row + column * matrix.strides.column,
                1, 1, &value);
  return value;
}

Result<Matrix> converted(const Matrix& matrix, Type type, std::string_view what) {
  if (matrix.type == type) return matrix;
  const Result<std::int64_t> bytes = matrix_bytes(matrix.rows, matrix.columns, type, what);
  if (!bytes) return std::unexpected(bytes.error());
  const Result<std::shared_ptr<void>> data = allocate_bytes(*bytes, what);
  if (!data) return std::unexpected(data.error());

  constexpr int kChunk = 256;
  double chunk[kChunk];
  const std::int64_t rows = matrix.columns == 0 ? 0 : matrix.rows;  // which may be 2^63 - 1
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < matrix.columns; column += kChunk) {
      const int count = static_cast<int>(std::min<std::int64_t>(kChunk, matrix.columns - column));
      load_elements(matrix.type, matrix.data,
                    row * matrix.strides.row + column * matrix.strides.column,
                    matrix.strides.column, count, chunk);
      store_elements<double>(type, data->get(), row * matrix.columns + column, 1, count, chunk);
    }
  }
  Matrix result = matrix;
  result.type = type;
  result.strides = {matrix.columns, 1, 0};
  result.data = data->get();
  result.owner = *data;
  return result;
}

}  // namespace tilewise
