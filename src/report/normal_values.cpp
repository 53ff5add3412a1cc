#include "report/normal_values.h"

#include <algorithm>

#include "epilogue/element.h"

namespace tilewise {

Result<Matrix> normal_matrix(std::int64_t rows, std::int64_t columns, Type type, std::uint64_t seed,
                             std::uint64_t stream, std::string_view what) {
  const Result<std::int64_t> bytes = matrix_bytes(rows, columns, type, what);
  if (!bytes) return std::unexpected(bytes.error());
  const Result<std::shared_ptr<void>> data = allocate_bytes(*bytes, what);
  if (!data) return std::unexpected(data.error());

  const std::uint64_t key = mixed_bits(seed ^ mixed_bits(stream));
  constexpr std::int64_t kChunk = 1024;
  double chunk[kChunk];
  const std::int64_t elements = rows * columns;
  for (std::int64_t first = 0; first < elements; first += kChunk) {
    const int count = static_cast<int>(std::min(kChunk, elements - first));
    for (int i = 0; i < count; ++i) {
      chunk[i] = normal_value(key, static_cast<std::uint64_t>(first + i));
    }
    store_elements<double>(type, data->get(), first, 1, count, chunk);
  }
  Matrix matrix;
  matrix.type = type;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.strides = {columns, 1, 0};
  matrix.data = data->get();
  matrix.owner = *data;
  return matrix;
}

}  // namespace tilewise
