// Sizes of the data caches as the system reports them.
#pragma once

#include <cstdint>
#include <string>

namespace tilewise::cpu {

// Bytes of one cache of each level, as one core sees it; 0 where there is none or it is unknown.
// shared_by: how many CPUs share the last level.
struct CacheSizes {
  std::int64_t l1_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
  int l3_shared_by = 1;
  std::string source = {};  // "sysfs", "sysconf", "assumed"
};

// From sysfs of CPU 0 (root: "" outside tests), else sysconf, else customary sizes (32 KiB, 512
// KiB, 4 MiB), which `source` then says.
[[nodiscard]] CacheSizes read_cache_sizes(const std::string& root = "");

}  // namespace tilewise::cpu
