// How many threads this process may use: the affinity mask and the container's quota.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewise::cpu {

// CPUs in the affinity mask of the calling thread; at least 1.
[[nodiscard]] int affinity_count();

// CPUs that the control groups grant, rounded up: the smallest quota found from the process's group
// up to the root, in version 2 (cpu.max) and version 1 (cpu.cfs_quota_us). Not set: no limit.
// root is where the file system starts ("" outside tests): root + "/proc/self/cgroup" and
// root + "/sys/fs/cgroup" are read.
[[nodiscard]] std::optional<int> quota_count(const std::string& root = "");

// The smaller of the two; at least 1. Read at each call: a quota may change.
[[nodiscard]] int usable_cpus();

}  // namespace tilewise::cpu
