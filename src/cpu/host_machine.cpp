#include <unistd.h>

#include <cstdint>

#include "cpu/caches.h"
#include "cpu/cpu_count.h"
#include "cpu/targets.h"
#include "tilewise/machine.h"

namespace tilewise {
namespace {

MemoryLevel make_level(std::string name, std::int64_t bytes, std::string source, std::string unit) {
  MemoryLevel level;
  level.name = std::move(name);
  level.capacity_bytes = {static_cast<double>(bytes), std::move(source)};
  level.unit = std::move(unit);
  return level;
}

std::int64_t memory_bytes() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : 0;
}

}  // namespace

Machine host_machine() {
  Machine machine;
  machine.name = "host";
  machine.device = Device::cpu;
  machine.title = cpu::processor_name();
  if (machine.title.empty()) machine.title = "this machine's CPU";
  const auto target = cpu::choose_target("");
  if (target) machine.architecture = (*target)->target;
  machine.num_units = cpu::usable_cpus();
  machine.num_units_source = "the affinity mask and the container's quota";

  const cpu::CacheSizes caches = cpu::read_cache_sizes();
  machine.memory.push_back(make_level("dram", memory_bytes(), "sysconf", "device"));
  if (caches.l3_bytes > 0) {
    machine.memory.push_back(make_level("l3", caches.l3_bytes, caches.source, "device"));
  }
  machine.memory.push_back(make_level("l2", caches.l2_bytes, caches.source, "core"));
  machine.memory.push_back(make_level("l1", caches.l1_bytes, caches.source, "core"));
  return machine;
}

}  // namespace tilewise
