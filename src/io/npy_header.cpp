#include "io/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "io/npy_dictionary.h"
#include "io/wording.h"

namespace tilewise {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersion1PrefixBytes = 10;
constexpr std::string_view kSupported =
    "read are float16, float32, float64 (f2, f4, f8), bfloat16 (V2), int32 and int64 (i4, i8)";

struct TypeName {
  std::string_view code;
  NpyType type;
};
// After the byte-order mark. bfloat16 is no type of NumPy itself: packages that add it write V2, E2
// or E, some tools the plain name.
constexpr std::array<TypeName, 10> kTypeNames = {{{"f2", NpyType::f2},
                                                  {"f4", NpyType::f4},
                                                  {"f8", NpyType::f8},
                                                  {"i4", NpyType::i4},
                                                  {"i8", NpyType::i8},
                                                  {"V2", NpyType::bf16},
                                                  {"E2", NpyType::bf16},
                                                  {"E", NpyType::bf16},
                                                  {"bfloat16", NpyType::bf16},
                                                  {"bf16", NpyType::bf16}}};

std::unexpected<Error> problem(std::string_view file_name, std::string_view text) {
  return bad_request(fmt::format("{}: {}", in_quotes(file_name), text));
}

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

Result<void> read_descr(NpyHeader& header, std::string_view descr, std::string_view file_name) {
  std::string_view code = descr;
  constexpr std::string_view kOrderMarks = "<>=|";
  char mark = '=';
  if (!code.empty() && kOrderMarks.find(code.front()) != kOrderMarks.npos) {
    mark = code.front();
    code.remove_prefix(1);
  }
  for (const TypeName& name : kTypeNames) {
    if (name.code != code) continue;
    header.type = name.type;
    const bool little = std::endian::native == std::endian::little;
    header.swapped = (mark == '>' && little) || (mark == '<' && !little);
    return {};
  }
  return problem(file_name,
                 fmt::format("its element type is {}; {}", in_quotes(descr), kSupported));
}

Result<void> read_shape(NpyHeader& header, const std::vector<std::int64_t>& shape,
                        std::string_view file_name) {
  if (shape.empty() || shape.size() > 2) {
    return problem(file_name,
                   fmt::format("it has {} dimensions; arrays of 1 or 2 are read", shape.size()));
  }
  header.num_dimensions = static_cast<int>(shape.size());
  header.shape[0] = shape[0];
  header.shape[1] = shape.size() == 2 ? shape[1] : 1;
  std::int64_t elements = 0;
  std::int64_t end = 0;
  const bool overflow =
      __builtin_mul_overflow(header.shape[0], header.shape[1], &elements) ||
      __builtin_mul_overflow(elements, std::int64_t{size_bytes(header.type)}, &header.data_bytes) ||
      __builtin_add_overflow(header.data_bytes, header.data_offset, &end);
  if (overflow) {
    return problem(file_name, fmt::format("its shape ({}, {}) is more bytes than 63 bits count",
                                          header.shape[0], header.shape[1]));
  }
  return {};
}

}  // namespace

int size_bytes(NpyType type) {
  switch (type) {
    case NpyType::f2:
    case NpyType::bf16:
      return 2;
    case NpyType::f4:
    case NpyType::i4:
      return 4;
    case NpyType::f8:
    case NpyType::i8:
      return 8;
  }
  return 0;
}

std::string_view to_string(NpyType type) {
  switch (type) {
    case NpyType::f2:
      return "float16";
    case NpyType::bf16:
      return "bfloat16";
    case NpyType::f4:
      return "float32";
    case NpyType::f8:
      return "float64";
    case NpyType::i4:
      return "int32";
    case NpyType::i8:
      return "int64";
  }
  return "?";
}

Result<std::int64_t> npy_data_offset(std::span<const std::byte> prefix,
                                     std::string_view file_name) {
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  if (!text.starts_with(kMagic)) {
    return problem(file_name, "it is not a .npy file (the first six bytes are not \\x93NUMPY)");
  }
  if (prefix.size() < kVersion1PrefixBytes) return problem(file_name, "its header is cut short");
  const unsigned major = byte_at(prefix, 6);
  if (major < 1 || major > 3) {
    return problem(file_name, fmt::format("its .npy version is {}.{}; versions 1 to 3 are read",
                                          major, byte_at(prefix, 7)));
  }
  std::int64_t length = byte_at(prefix, 8) + 256 * byte_at(prefix, 9);
  if (major == 1) return length + static_cast<std::int64_t>(kVersion1PrefixBytes);
  if (prefix.size() < kNpyPrefixBytes) return problem(file_name, "its header is cut short");
  length += (std::int64_t{byte_at(prefix, 10)} << 16) + (std::int64_t{byte_at(prefix, 11)} << 24);
  if (length > kNpyHeaderLimitBytes) {
    return problem(file_name, fmt::format("its header claims {} bytes; at most {} are read", length,
                                          kNpyHeaderLimitBytes));
  }
  return length + static_cast<std::int64_t>(kNpyPrefixBytes);
}

Result<NpyHeader> parse_npy_header(std::span<const std::byte> header, std::string_view file_name) {
  const std::size_t prefix_bytes = std::min(header.size(), kNpyPrefixBytes);
  const Result<std::int64_t> offset = npy_data_offset(header.first(prefix_bytes), file_name);
  if (!offset) return std::unexpected(offset.error());
  if (std::cmp_less(header.size(), *offset)) return problem(file_name, "its header is cut short");
  const std::size_t start = byte_at(header, 6) == 1 ? kVersion1PrefixBytes : kNpyPrefixBytes;
  const std::string_view text(reinterpret_cast<const char*>(header.data()) + start,
                              static_cast<std::size_t>(*offset) - start);
  const Result<NpyDictionary> fields = parse_npy_dictionary(text);
  if (!fields) return problem(file_name, fields.error().message);

  NpyHeader result;
  result.data_offset = *offset;
  result.fortran_order = fields->fortran_order;
  if (const auto done = read_descr(result, fields->descr, file_name); !done) {
    return std::unexpected(done.error());
  }
  if (const auto done = read_shape(result, fields->shape, file_name); !done) {
    return std::unexpected(done.error());
  }
  return result;
}

std::string make_npy_header(NpyType type, std::int64_t rows, std::int64_t columns) {
  constexpr std::size_t kAlignment = 64;
  std::string_view code;
  for (const TypeName& name : kTypeNames) {
    if (name.type == type && code.empty()) code = name.code;
  }
  std::string text = fmt::format("{{'descr': '<{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 code, rows, columns);
  const std::size_t unpadded = kVersion1PrefixBytes + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace tilewise
