#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "io/matrix.h"

namespace tilewise {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

// The number after `key` at the start of a line, or alone on the first line for an empty key.
std::optional<std::int64_t> number_in_file(const std::string& path, std::string_view key = {}) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (std::string_view(line).starts_with(key)) {
      return leading_number(std::string_view(line).substr(key.size()));
    }
  }
  return std::nullopt;
}

std::int64_t free_memory() {
  constexpr std::int64_t kKibibyte = 1024;
  if (const auto free = number_in_file("/proc/meminfo", "MemAvailable:")) return *free * kKibibyte;
  const std::int64_t pages = sysconf(_SC_AVPHYS_PAGES);
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : kUnlimited;
}

// What is left of the container's limit; file pages in its cache can be dropped and count as free.
std::int64_t left_in_container() {
  struct Group {
    const char *limit, *usage, *stat, *cache_key;
  };
  constexpr std::array<Group, 2> kGroups = {
      {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
        "inactive_file "},
       {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat",
        "total_inactive_file "}}};
  for (const Group& group : kGroups) {
    const auto limit = number_in_file(group.limit);
    const auto usage = number_in_file(group.usage);
    if (!limit || !usage) continue;
    const auto cache = number_in_file(group.stat, group.cache_key);
    return std::max<std::int64_t>(0, *limit - *usage + cache.value_or(0));
  }
  return kUnlimited;
}

std::int64_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const auto pages = number_in_file("/proc/self/statm");
  const std::int64_t used = pages.value_or(0) * sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - used);
}

}  // namespace

std::int64_t available_memory_bytes() {
  return std::min({free_memory(), left_in_container(), left_of_address_space()});
}

}  // namespace tilewise
