#include "gpu/embedded_cubins.h"

#include <charconv>

#include "gpu/kernel_record.h"

// Defined by precompile/cubins.cpp where kernels were compiled when the library was built; null
// elsewhere.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char tilewise_cubins_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char tilewise_cubins_end[];
}

namespace tilewise::gpu {
namespace {

// One line `<bytes> <key>` and the record, one entry after another.
struct Entry {
  std::string_view key, record;
};

// Takes the first entry off; false at the end.
bool next_entry(std::string_view& rest, Entry& entry) {
  const std::size_t space = rest.find(' '), line = rest.find('\n');
  if (space == std::string_view::npos || line == std::string_view::npos || line < space)
    return false;
  std::size_t bytes = 0;
  const std::string_view digits = rest.substr(0, space);
  std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  if (rest.size() - line - 1 < bytes) return false;
  entry.key = rest.substr(space + 1, line - space - 1);
  entry.record = rest.substr(line + 1, bytes);
  rest.remove_prefix(line + 1 + bytes);
  return true;
}

std::string_view all_entries() {
  // Through a volatile pointer: the compiler takes the address of an array for never null.
  const char* volatile begin = tilewise_cubins_begin;
  const char* first = begin;
  if (first == nullptr) return {};
  return {first, static_cast<std::size_t>(tilewise_cubins_end - first)};
}

}  // namespace

std::optional<CompiledKernel> find_embedded_cubin(std::string_view source_key) {
  Entry entry;
  for (std::string_view rest = all_entries(); next_entry(rest, entry);) {
    if (entry.key == source_key) return unpack_kernel(source_key, entry.record);
  }
  return {};
}

std::size_t num_embedded_cubins() {
  std::size_t count = 0;
  Entry entry;
  for (std::string_view rest = all_entries(); next_entry(rest, entry);) ++count;
  return count;
}

}  // namespace tilewise::gpu
