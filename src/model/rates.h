// Rates of a machine: measured where it was measured, else the datasheet's.
#pragma once

#include <string>
#include <string_view>

#include "tilewise/machine.h"

namespace tilewise {

struct Rate {
  double value = 0;  // 10^9 bytes or 10^12 FLOP a second; 0: unknown
  std::string source;
};

[[nodiscard]] inline Rate better(const Figure& measured, const Figure& stated) {
  return measured.value > 0 ? Rate{measured.value, measured.source}
                            : Rate{stated.value, stated.source};
}
[[nodiscard]] inline Rate bandwidth(const Machine& machine, std::string_view memory) {
  const MemoryLevel* level = find_memory(machine, memory);
  return level == nullptr ? Rate{} : better(level->measured_bandwidth_gbps, level->bandwidth_gbps);
}
[[nodiscard]] inline Rate peak_rate(const Machine& machine, std::string_view name) {
  const Peak* peak = find_peak(machine, name);
  return peak == nullptr ? Rate{} : better(peak->measured_tflops, peak->tflops);
}

// The datasheet's where there is one: what a ridge is usually quoted with.
[[nodiscard]] inline double stated_bandwidth(const Machine& machine, std::string_view memory) {
  const MemoryLevel* level = find_memory(machine, memory);
  if (level == nullptr) return 0;
  return level->bandwidth_gbps.value > 0 ? level->bandwidth_gbps.value
                                         : level->measured_bandwidth_gbps.value;
}
[[nodiscard]] inline double stated_peak(const Machine& machine, std::string_view name) {
  const Peak* peak = find_peak(machine, name);
  if (peak == nullptr) return 0;
  return peak->tflops.value > 0 ? peak->tflops.value : peak->measured_tflops.value;
}

// FLOP a byte at which a bandwidth meets the peak; 0 where either is unknown.
[[nodiscard]] inline double ridge(double peak_tflops, double bandwidth_gbps) {
  return bandwidth_gbps > 0 ? peak_tflops * 1e3 / bandwidth_gbps : 0;
}

[[nodiscard]] inline double capacity(const Machine& machine, std::string_view memory) {
  const MemoryLevel* level = find_memory(machine, memory);
  return level == nullptr ? 0 : level->capacity_bytes.value;
}

}  // namespace tilewise
