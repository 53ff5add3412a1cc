#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "io/npy.h"
#include "io/npy_header.h"
#include "io/output_file.h"

namespace tilewise {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the writer copies elements as they are; add a byte swap for this machine");

std::optional<NpyType> type_in_file(Type type) {
  switch (type) {
    case Type::f64:
      return NpyType::f8;
    case Type::f32:
      return NpyType::f4;
    case Type::bf16:
      return NpyType::bf16;
    case Type::f16:
      return NpyType::f2;
    case Type::f8e4m3:
    case Type::f8e5m2:
      return std::nullopt;
  }
  return std::nullopt;
}

// Rows whose elements are neighbours are written as they lie; others are gathered.
Result<void> write_rows(OutputFile& file, const Matrix& matrix) {
  const auto size = static_cast<std::size_t>(size_bytes(matrix.type));
  const auto* data = static_cast<const std::byte*>(matrix.data);
  const auto columns = static_cast<std::size_t>(matrix.columns);
  const auto address = [&](std::int64_t row, std::size_t column) {
    const std::int64_t index =
        row * matrix.strides.row + static_cast<std::int64_t>(column) * matrix.strides.column;
    return data + index * static_cast<std::int64_t>(size);
  };
  const bool neighbours = matrix.strides.column == 1;
  std::vector<std::byte> gathered(neighbours ? 0 : columns * size);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::span<const std::byte> bytes = gathered;
    if (neighbours) {
      bytes = {address(row, 0), columns * size};
    } else {
      for (std::size_t column = 0; column < columns; ++column) {
        std::memcpy(gathered.data() + column * size, address(row, column), size);
      }
    }
    if (const Result<void> done = file.write(bytes); !done) return done;
  }
  return {};
}

Result<void> write_elements(OutputFile& file, const Matrix& matrix) {
  if (matrix.rows == 0 || matrix.columns == 0) return {};
  const bool dense = matrix.strides.column == 1 && matrix.strides.row == matrix.columns;
  if (!dense) return write_rows(file, matrix);
  const std::int64_t bytes = matrix.rows * matrix.columns * size_bytes(matrix.type);
  return file.write({static_cast<const std::byte*>(matrix.data), static_cast<std::size_t>(bytes)});
}

}  // namespace

Result<void> write_npy(const std::string& path, const Matrix& matrix) {
  const std::optional<NpyType> type = type_in_file(matrix.type);
  if (!type) {
    return bad_request(fmt::format("a matrix of {} has no .npy type; convert it to f32 first",
                                   to_string(matrix.type)));
  }
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  const std::string header = make_npy_header(*type, matrix.rows, matrix.columns);
  Result<void> done = file->write(std::as_bytes(std::span(header)));
  if (done) done = write_elements(*file, matrix);
  if (done) done = file->commit();
  return done;
}

}  // namespace tilewise
