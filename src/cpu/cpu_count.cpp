#include "cpu/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace tilewise::cpu {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<std::int64_t> leading_integer(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

void keep_smaller(std::optional<int>& limit, std::int64_t quota_us, std::int64_t period_us) {
  if (quota_us <= 0 || period_us <= 0) return;  // -1: no limit
  const std::int64_t cpus = std::min<std::int64_t>((quota_us - 1) / period_us + 1, 1 << 20);
  limit = limit ? std::min(*limit, static_cast<int>(cpus)) : static_cast<int>(cpus);
}

// cpu.max holds "max 100000" or "150000 100000".
void read_version_2(std::optional<int>& limit, const std::string& folder) {
  const std::string text = read_text(folder + "/cpu.max");
  const auto quota = leading_integer(text);
  const auto space = text.find(' ');
  if (!quota || space == std::string::npos) return;
  const auto period = leading_integer(std::string_view(text).substr(space));
  if (period) keep_smaller(limit, *quota, *period);
}

void read_version_1(std::optional<int>& limit, const std::string& folder) {
  const auto quota = leading_integer(read_text(folder + "/cpu.cfs_quota_us"));
  const auto period = leading_integer(read_text(folder + "/cpu.cfs_period_us"));
  if (quota && period) keep_smaller(limit, *quota, *period);
}

// The group's own folder, then each one above it up to the mount point. In a container the path may
// name a group that only the host sees; the mount point is then the container's own group.
std::vector<std::string> folders_up(const std::string& mount, std::string path) {
  std::vector<std::string> folders;
  while (path.size() > 1) {
    folders.push_back(mount + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const auto comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

int affinity_count() {
  // A mask of 1024 bits is too small on very large machines: grow until the call accepts it.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::optional<int> quota_count(const std::string& root) {
  std::optional<int> limit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/path"
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      for (const auto& folder : folders_up(mount, path)) read_version_2(limit, folder);
    } else if (names_cpu(controllers)) {
      for (const auto& folder : folders_up(mount + "/cpu", path)) read_version_1(limit, folder);
      for (const auto& folder : folders_up(mount + "/" + controllers, path)) {
        read_version_1(limit, folder);
      }
    }
  }
  return limit;
}

int usable_cpus() {
  const auto quota = quota_count();
  const int affinity = affinity_count();
  return std::max(1, quota ? std::min(affinity, *quota) : affinity);
}

}  // namespace tilewise::cpu
