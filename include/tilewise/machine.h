// The machine: levels of memory, arithmetic peaks, limits. Each figure carries its source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"
#include "tilewise/schedule.h"
#include "tilewise/types.h"

namespace tilewise {

// A number and where it is from ("datasheet", "measured: ...", "derived: ..."). 0: unknown.
struct Figure {
  double value = 0;
  std::string source;
  bool operator==(const Figure&) const = default;
};

// One level of memory. capacity is for one unit of it (one SM, one core, the chip); bandwidth for
// the whole machine.
struct MemoryLevel {
  std::string name;  // "dram", "l2", "shared", "registers"; "l3", "l1" on CPUs
  Figure capacity_bytes;
  Figure bandwidth_gbps;           // datasheet or derived, 10^9 bytes a second
  Figure measured_bandwidth_gbps;  // by a run
  std::string unit;                // "device", "sm", "core"
  bool operator==(const MemoryLevel&) const = default;
};

// Peak of one kind of arithmetic: dense, 10^12 FLOP a second, at the boost clock of its source.
struct Peak {
  std::string name;  // "f32", "f64", "tf32", "bf16", "f16", "f8"
  Figure tflops;
  Figure measured_tflops;
  bool operator==(const Peak&) const = default;
};

// Limits of one SM or core (0 where they do not apply).
struct Limits {
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_bytes_per_block = 0;  // with opt-in
  std::int64_t shared_bytes_reserved = 0;   // taken from each block by the system
  std::int64_t registers_per_sm = 0;
  std::int64_t registers_per_thread = 0;
  std::int64_t threads_per_block = 0;
  std::int64_t warps_per_sm = 0;
  std::int64_t blocks_per_sm = 0;
  std::string source = {};  // of all of them
  bool operator==(const Limits&) const = default;
};

struct Machine {
  static constexpr std::string_view kSchema = "tilewise.machine/1";

  std::string name;   // "h200"
  std::string title;  // "NVIDIA H200 SXM"
  Device device = Device::gpu;
  std::string architecture;    // "sm_90a", "avx2", ...
  std::int64_t num_units = 0;  // SMs, or cores
  std::string num_units_source;
  Figure boost_mhz;
  Figure sustained_mhz;
  std::vector<MemoryLevel> memory;  // farthest first
  std::vector<Peak> peaks;
  Limits limits;
  std::vector<std::string> notes;

  bool operator==(const Machine&) const = default;
};

[[nodiscard]] const MemoryLevel* find_memory(const Machine& machine, std::string_view name);
[[nodiscard]] const Peak* find_peak(const Machine& machine, std::string_view name);

[[nodiscard]] Result<Machine> parse_machine(std::string_view json);
[[nodiscard]] std::string to_json(const Machine& machine);

// machines/*.json, embedded. find_machine's error names the nearest match.
[[nodiscard]] std::span<const Machine> named_machines();
[[nodiscard]] Result<Machine> find_machine(std::string_view name);

// This machine's CPU: cores by the affinity mask and the container's quota, cache sizes as the
// system reports them; no timing. Peaks and bandwidths are 0 until measured.
[[nodiscard]] Machine host_machine();

}  // namespace tilewise
