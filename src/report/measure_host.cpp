#include "report/measure_host.h"

#include <algorithm>
#include <cstdint>

#include "cpu/bandwidth.h"
#include "cpu/peak.h"

namespace tilewise {
namespace {

constexpr std::int64_t kLargestBuffer = std::int64_t{1} << 28;  // over all threads

// A working set that lives in a level: half of it, and several times the level above.
std::int64_t working_set(const Machine& machine, std::size_t index) {
  const MemoryLevel& level = machine.memory[index];
  const auto threads = machine.num_units;
  if (index == 0) {
    double caches = 0;
    for (std::size_t i = 1; i < machine.memory.size(); ++i) {
      caches = std::max(caches, machine.memory[i].capacity_bytes.value);
    }
    const auto wanted = static_cast<std::int64_t>(4 * caches);
    return std::clamp<std::int64_t>(wanted, std::int64_t{1} << 26, kLargestBuffer) / threads;
  }
  const auto capacity = static_cast<std::int64_t>(level.capacity_bytes.value);
  return (level.unit == "core" ? capacity : capacity / threads) / 2;
}

}  // namespace

Machine measured_host() {
  Machine machine = host_machine();
  const int threads = static_cast<int>(machine.num_units);
  for (const auto& [name, type] : {std::pair{"f32", Type::f32}, std::pair{"f64", Type::f64}}) {
    const double gflops = cpu::measure_fma_peak(type, threads);
    if (gflops > 0) {
      machine.peaks.push_back(
          {name, {}, {gflops / 1e3, "measured: multiply-adds from registers, all usable CPUs"}});
    }
  }
  for (std::size_t i = 0; i < machine.memory.size(); ++i) {
    MemoryLevel& level = machine.memory[i];
    if (level.capacity_bytes.value <= 0) continue;
    const std::int64_t bytes = working_set(machine, i);
    level.measured_bandwidth_gbps = {cpu::measure_read_bandwidth(bytes, threads),
                                     "measured: reads of " + std::to_string(bytes) +
                                         " bytes by each of " + std::to_string(threads) +
                                         " threads"};
  }
  return machine;
}

}  // namespace tilewise
