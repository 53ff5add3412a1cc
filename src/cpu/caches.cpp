#include "cpu/caches.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace tilewise::cpu {
namespace {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "32K", "1024K", "32M"
std::int64_t parse_size(const std::string& text) {
  const std::int64_t value = std::strtoll(text.c_str(), nullptr, 10);
  if (value <= 0 || value > (std::int64_t{1} << 40) || text.empty()) return 0;
  switch (text.back()) {
    case 'K':
      return value << 10;
    case 'M':
      return value << 20;
    default:
      return value;
  }
}

// "0-3,8" is five CPUs.
int count_cpus(const std::string& list) {
  int count = 0;
  for (std::size_t at = 0; at < list.size();) {
    char* end = nullptr;
    const long first = std::strtol(list.c_str() + at, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    count += static_cast<int>(std::clamp(last - first + 1, 0L, 1L << 20));
    if (*end != ',') break;
    at = static_cast<std::size_t>(end - list.c_str()) + 1;
  }
  return std::max(count, 1);
}

CacheSizes from_sysfs(const std::string& root) {
  CacheSizes sizes;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    const std::string level = read_line(folder + "/level");
    if (level.empty()) break;
    if (read_line(folder + "/type") == "Instruction") continue;
    const std::int64_t bytes = parse_size(read_line(folder + "/size"));
    if (level == "1") sizes.l1_bytes = bytes;
    if (level == "2") sizes.l2_bytes = bytes;
    if (level == "3") {
      sizes.l3_bytes = bytes;
      sizes.l3_shared_by = count_cpus(read_line(folder + "/shared_cpu_list"));
    }
  }
  sizes.source = "sysfs";
  return sizes;
}

CacheSizes from_sysconf() {
  CacheSizes sizes;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  sizes.l1_bytes = std::max<std::int64_t>(0, sysconf(_SC_LEVEL1_DCACHE_SIZE));
  sizes.l2_bytes = std::max<std::int64_t>(0, sysconf(_SC_LEVEL2_CACHE_SIZE));
  sizes.l3_bytes = std::max<std::int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  sizes.source = "sysconf";
  return sizes;
}

}  // namespace

CacheSizes read_cache_sizes(const std::string& root) {
  CacheSizes sizes = from_sysfs(root);
  if (sizes.l1_bytes == 0 || sizes.l2_bytes == 0) {
    if (root.empty()) sizes = from_sysconf();
  }
  if (sizes.l1_bytes == 0 || sizes.l2_bytes == 0) {
    sizes = {.l1_bytes = 32 << 10, .l2_bytes = 512 << 10, .l3_bytes = 4 << 20};
    sizes.source = "assumed";
  }
  return sizes;
}

}  // namespace tilewise::cpu
