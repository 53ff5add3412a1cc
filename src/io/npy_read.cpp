#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "io/file_bytes.h"
#include "io/npy.h"
#include "io/npy_header.h"
#include "io/wording.h"

namespace tilewise {
namespace {

struct Loaded {
  NpyHeader header;
  FileBytes data;
};

std::unexpected<Error> wrong_length(const std::string& name, const NpyHeader& header,
                                    std::string_view found) {
  return bad_request(fmt::format("{}: its shape ({}, {}) of {} needs {} bytes of data, and {}",
                                 in_quotes(name), header.shape[0], header.shape[1],
                                 to_string(header.type), header.data_bytes, found));
}

Result<Loaded> load_mapped(const InputFile& file) {
  const Result<FileBytes> mapped = file.map();
  if (!mapped) return std::unexpected(mapped.error());
  const std::span<const std::byte> bytes = mapped->bytes;
  const auto offset =
      npy_data_offset(bytes.first(std::min(bytes.size(), kNpyPrefixBytes)), file.name());
  if (!offset) return std::unexpected(offset.error());
  const std::size_t header_bytes = std::min(bytes.size(), static_cast<std::size_t>(*offset));
  const Result<NpyHeader> header = parse_npy_header(bytes.first(header_bytes), file.name());
  if (!header) return std::unexpected(header.error());
  const std::span<const std::byte> data = bytes.subspan(header_bytes);
  if (std::cmp_not_equal(data.size(), header->data_bytes)) {
    return wrong_length(file.name(), *header, fmt::format("the file holds {}", data.size()));
  }
  return Loaded{*header, {data, mapped->owner}};
}

// Data of a stream. The buffer grows with what arrives, so that a header alone takes no memory, and
// an endless stream is never read beyond what its header announces.
Result<FileBytes> read_stream(const InputFile& file, const NpyHeader& header) {
  constexpr std::int64_t kFirstBytes = std::int64_t{1} << 24;
  std::shared_ptr<void> buffer;
  std::int64_t received = 0, capacity = 0;
  while (received < header.data_bytes) {
    const std::int64_t larger = std::min(header.data_bytes, std::max(kFirstBytes, 2 * capacity));
    const Result<std::shared_ptr<void>> grown = allocate_bytes(larger, file.name());
    if (!grown) return std::unexpected(grown.error());
    std::copy_n(static_cast<const std::byte*>(buffer.get()), received,
                static_cast<std::byte*>(grown->get()));
    buffer = *grown;
    capacity = larger;
    auto* const next = static_cast<std::byte*>(buffer.get()) + received;
    const Result<std::size_t> count =
        file.read({next, static_cast<std::size_t>(capacity - received)});
    if (!count) return std::unexpected(count.error());
    received += static_cast<std::int64_t>(*count);
    if (received < capacity) {
      return wrong_length(file.name(), header, fmt::format("{} came", received));
    }
  }
  std::array<std::byte, 1> extra{};
  const Result<std::size_t> count = file.read(extra);
  if (!count) return std::unexpected(count.error());
  if (*count != 0) return wrong_length(file.name(), header, "there are more");
  return FileBytes{
      {static_cast<const std::byte*>(buffer.get()), static_cast<std::size_t>(received)}, buffer};
}

// Whatever the shape asks for, it has to fit the memory before any of it is read.
Result<void> check_fits(const InputFile& file, const NpyHeader& header) {
  const std::int64_t available = available_memory_bytes();
  if (header.data_bytes <= available) return {};
  return out_of_memory(fmt::format("{} takes {} bytes, and {} bytes of memory are free here",
                                   in_quotes(file.name()), header.data_bytes, available));
}

Result<Loaded> load_streamed(const InputFile& file) {
  std::vector<std::byte> start(kNpyPrefixBytes);
  Result<std::size_t> count = file.read(start);
  if (!count) return std::unexpected(count.error());
  const auto offset = npy_data_offset(std::span(start).first(*count), file.name());
  if (!offset) return std::unexpected(offset.error());
  // No valid header is shorter than what has been read of it.
  start.resize(std::max(start.size(), static_cast<std::size_t>(*offset)));
  count = file.read(std::span(start).subspan(kNpyPrefixBytes));
  if (!count) return std::unexpected(count.error());
  const std::size_t read_bytes = kNpyPrefixBytes + *count;
  const Result<NpyHeader> header =
      parse_npy_header(std::span(start).first(read_bytes), file.name());
  if (!header) return std::unexpected(header.error());
  if (const Result<void> fits = check_fits(file, *header); !fits) {
    return std::unexpected(fits.error());
  }
  const Result<FileBytes> data = read_stream(file, *header);
  if (!data) return std::unexpected(data.error());
  return Loaded{*header, *data};
}

template <class Word>
Word byte_swapped(Word word) {
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
}

template <class Word>
void copy_words(const std::byte* from, std::byte* to, std::int64_t count, bool swap) {
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
    if (swap) word = byte_swapped(word);
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(Word)), &word, sizeof(Word));
  }
}

// A copy in this machine's byte order, at an address that the type allows.
Result<FileBytes> in_native_order(const Loaded& loaded, const std::string& name) {
  const NpyHeader& header = loaded.header;
  const int size = size_bytes(header.type);
  const auto address = reinterpret_cast<std::uintptr_t>(loaded.data.bytes.data());
  if (!header.swapped && address % static_cast<std::uintptr_t>(size) == 0) return loaded.data;
  const Result<std::shared_ptr<void>> buffer = allocate_bytes(header.data_bytes, name);
  if (!buffer) return std::unexpected(buffer.error());
  auto* to = static_cast<std::byte*>(buffer->get());
  const std::byte* from = loaded.data.bytes.data();
  const std::int64_t count = header.data_bytes / size;
  if (size == 2) copy_words<std::uint16_t>(from, to, count, header.swapped);
  if (size == 4) copy_words<std::uint32_t>(from, to, count, header.swapped);
  if (size == 8) copy_words<std::uint64_t>(from, to, count, header.swapped);
  return FileBytes{{to, static_cast<std::size_t>(header.data_bytes)}, *buffer};
}

template <class Integer>
Result<FileBytes> integers_as_doubles(const FileBytes& data, const std::string& name) {
  const auto count = static_cast<std::int64_t>(data.bytes.size() / sizeof(Integer));
  const auto bytes = count * static_cast<std::int64_t>(sizeof(double));
  const Result<std::shared_ptr<void>> buffer = allocate_bytes(bytes, name);
  if (!buffer) return std::unexpected(buffer.error());
  const auto* from = reinterpret_cast<const Integer*>(data.bytes.data());
  auto* to = static_cast<double*>(buffer->get());
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  for (std::int64_t i = 0; i < count; ++i) {
    if (from[i] > kExact || from[i] < -kExact) {
      return bad_request(fmt::format("{}: it holds the integer {}; float64 keeps integers to 2^53",
                                     in_quotes(name), from[i]));
    }
    to[i] = static_cast<double>(from[i]);
  }
  return FileBytes{{static_cast<std::byte*>(buffer->get()), static_cast<std::size_t>(bytes)},
                   *buffer};
}

Type type_in_memory(NpyType type) {
  switch (type) {
    case NpyType::f2:
      return Type::f16;
    case NpyType::bf16:
      return Type::bf16;
    case NpyType::f4:
      return Type::f32;
    case NpyType::f8:
    case NpyType::i4:
    case NpyType::i8:
      return Type::f64;
  }
  return Type::f64;
}

Matrix as_matrix(const NpyHeader& header, const FileBytes& data) {
  Matrix matrix;
  matrix.type = type_in_memory(header.type);
  matrix.rows = header.shape[0];
  matrix.columns = header.shape[1];
  matrix.num_dimensions = header.num_dimensions;
  matrix.strides =
      header.fortran_order ? Strides{1, matrix.rows, 0} : Strides{matrix.columns, 1, 0};
  matrix.data = data.bytes.data();
  matrix.owner = data.owner;
  return matrix;
}

}  // namespace

Result<Matrix> read_npy(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  const Result<Loaded> loaded = file->is_regular() ? load_mapped(*file) : load_streamed(*file);
  if (!loaded) return std::unexpected(loaded.error());
  Result<FileBytes> data = in_native_order(*loaded, file->name());
  if (data && loaded->header.type == NpyType::i4) {
    data = integers_as_doubles<std::int32_t>(*data, file->name());
  } else if (data && loaded->header.type == NpyType::i8) {
    data = integers_as_doubles<std::int64_t>(*data, file->name());
  }
  if (!data) return std::unexpected(data.error());
  return as_matrix(loaded->header, *data);
}

}  // namespace tilewise
