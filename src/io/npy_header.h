// The header of a .npy file: versions 1, 2 and 3 of the format, one- and two-dimensional arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tilewise/result.h"

namespace tilewise {

enum class NpyType : std::uint8_t { f2, f4, f8, bf16, i4, i8 };

[[nodiscard]] int size_bytes(NpyType type);
[[nodiscard]] std::string_view to_string(NpyType type);  // "float32", "bfloat16", "int64", ...

struct NpyHeader {
  NpyType type = NpyType::f4;
  bool swapped = false;  // bytes in the order that is not this machine's
  bool fortran_order = false;
  int num_dimensions = 0;          // 1 or 2
  std::int64_t shape[2] = {1, 1};  // of one dimension: {length, 1}
  std::int64_t data_offset = 0;    // bytes from the start of the file
  std::int64_t data_bytes = 0;     // that the shape asks for; fits 63 bits with the offset
};

// The fixed part at the start of every file: magic string, version, length of the text.
inline constexpr std::size_t kNpyPrefixBytes = 12;  // of versions 2 and 3; version 1 has 10
inline constexpr std::int64_t kNpyHeaderLimitBytes = 1 << 16;

// Bytes of the whole header (the data offset), from the first kNpyPrefixBytes (or fewer, in a
// shorter file). Errors: not a .npy file, an unknown version, a header past the limit.
[[nodiscard]] Result<std::int64_t> npy_data_offset(std::span<const std::byte> prefix,
                                                   std::string_view file_name);

// header: the file's first data_offset bytes. Errors name the file, what it holds and what is read.
[[nodiscard]] Result<NpyHeader> parse_npy_header(std::span<const std::byte> header,
                                                 std::string_view file_name);

// A version 1 header, padded so that the data starts at a multiple of 64 bytes; little-endian.
[[nodiscard]] std::string make_npy_header(NpyType type, std::int64_t rows, std::int64_t columns);

}  // namespace tilewise
