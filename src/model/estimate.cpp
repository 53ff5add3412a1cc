#include "tilewise/estimate.h"

#include <algorithm>
#include <cmath>

#include "model/gpu_estimate.h"
#include "model/rates.h"
#include "tilewise/bounds.h"

namespace tilewise {
namespace {

constexpr std::int64_t kRegisterBytes = 4;
constexpr std::int64_t kWarpLanes = 32;
constexpr std::int64_t kWarpgroupLanes = 128;
constexpr double kLaunchMatters_us = 10;

// The private memories that a level reads into: how many, and bytes of each.
struct FastMemories {
  std::int64_t count = 0, bytes = 0;
};

// Everything on the chip, as one memory that reads from DRAM.
FastMemories whole_chip(const Machine& machine) {
  double bytes = 0;
  for (const MemoryLevel& level : machine.memory) {
    if (level.name == "dram" || level.name == "l2_partition") continue;
    const double units = level.unit == "device" ? 1 : static_cast<double>(machine.num_units);
    bytes += level.capacity_bytes.value * units;
  }
  return {1, static_cast<std::int64_t>(bytes)};
}

FastMemories reads_into(const Machine& machine, const Schedule& schedule, std::size_t index,
                        std::string_view memory) {
  if (machine.device == Device::cpu) return index == 0 ? whole_chip(machine) : FastMemories{};
  const std::int64_t registers = machine.limits.registers_per_sm * kRegisterBytes;
  if (memory == "global") {
    return {machine.num_units, registers + machine.limits.shared_bytes_per_sm};
  }
  if (memory != "shared") return {};
  const Level level = schedule.tiles[index].level;
  const std::int64_t lanes = level == Level::thread        ? 1
                             : level == Level::instruction ? kWarpgroupLanes
                                                           : kWarpLanes;
  const std::int64_t bytes = lanes * machine.limits.registers_per_thread * kRegisterBytes;
  return bytes == 0 ? FastMemories{} : FastMemories{machine.num_units * registers / bytes, bytes};
}

ElementBytes element_bytes(const Problem& p) {
  return {size_bytes(p.type_a), size_bytes(p.type_b), p.type_a == Type::f64 ? 8 : 4};
}

// Reads in bytes that no schedule can beat. A batch whose A (or B) is shared is one taller (wider)
// product.
double bound_bytes(const Problem& p, const Schedule& s, FastMemories fast) {
  std::int64_t m = p.m, n = p.n, batch = p.batch;
  if (batch > 1 && p.b.batch == 0) m *= batch, batch = 1;
  if (batch > 1 && p.a.batch == 0) n *= batch, batch = 1;
  if (fast.count < 1) return 0;
  const auto mixed = mixed_bound(m, n, p.k, element_bytes(p), fast.bytes, fast.count,
                                 Output::created, s.split_k.ways);
  return mixed ? mixed->floor_bytes * static_cast<double>(batch) : 0;
}

void add_levels(const Problem& p, const Schedule& s, const Machine& machine,
                const CountReport& counted, Estimate& e) {
  for (std::size_t i = 0; i < counted.levels.size(); ++i) {
    const LevelCount& c = counted.levels[i];
    LevelEstimate level;
    level.level = to_string(c.level);
    level.memory = reads_from(s, i);
    level.m = c.m, level.n = c.n, level.k = c.k;
    level.reads = c.reads;
    // The CPU packs panels of 16-bit elements as float32.
    auto bytes = [&](Type type) {
      const bool packed = machine.device == Device::cpu && i > 0;
      return packed ? std::max(size_bytes(type), 4) : size_bytes(type);
    };
    level.bytes = c.reads_a.to_double() * bytes(p.type_a) + c.reads_b.to_double() * bytes(p.type_b);
    if (level.bytes > 0) level.intensity = counted.flops.to_double() / level.bytes;
    const std::string_view memory =
        level.memory == "global" ? "dram" : std::string_view(level.memory);
    level.ridge = ridge(e.peak_tflops, stated_bandwidth(machine, memory));
    level.bound_bytes = bound_bytes(p, s, reads_into(machine, s, i, level.memory));
    e.levels.push_back(std::move(level));
  }
}

// The time is the largest term: all overlap.
void conclude(double flops, Estimate& e) {
  for (const TimeTerm& term : e.terms) {
    if (term.time_us > e.time_us) {
      e.time_us = term.time_us;
      e.limiter = term.name;
    }
  }
  if (e.time_us > 0) e.tflops = flops / e.time_us / 1e6;
  if (e.time_us > 0 && e.time_us < kLaunchMatters_us) {
    e.notes.push_back(
        "The launch of a kernel and the latency of its first loads are not estimated, "
        "and may be longer than this.");
  }
}

void add_cpu_terms(const Problem& p, const Machine& machine, double flops, Estimate& e) {
  const Rate peak = peak_rate(machine, e.peak.peak);
  if (peak.value > 0) {
    e.terms.push_back({"arithmetic", flops / peak.value / 1e6, "FLOP over " + peak.source});
  } else {
    e.notes.push_back(
        "The peak of this machine is not measured: `tilewise machines --measure` fills "
        "it in; no time is estimated from it.");
  }
  for (const LevelEstimate& level : e.levels) {
    const Rate rate = bandwidth(machine, level.memory);
    double bytes = level.bytes;
    if (level.memory == "dram") {
      bytes += static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch) *
               size_bytes(p.type_d);
    }
    if (rate.value <= 0) continue;
    const std::string name = level.memory == "dram" ? "DRAM" : level.memory;
    e.terms.push_back({name, bytes / rate.value / 1e3, "bytes over " + rate.source});
  }
}

}  // namespace

Result<Estimate> estimate(const Problem& problem, const Schedule& schedule, const Machine& machine,
                          bool exact_order) {
  if (auto ok = validate(problem); !ok) return std::unexpected(ok.error());
  if (auto ok = check_fits(problem, schedule, machine); !ok) return std::unexpected(ok.error());
  const auto counted = count_levels(problem, schedule);
  if (!counted) return std::unexpected(counted.error());
  const auto traffic = count(problem, schedule);
  if (!traffic) return std::unexpected(traffic.error());
  Estimate e;
  e.arithmetic = arithmetic_of(schedule);
  e.peak = *peak_use(problem, schedule);
  e.peak_tflops = stated_peak(machine, e.peak.peak) / e.peak.products;
  e.ridge = ridge(e.peak_tflops, stated_bandwidth(machine, "dram"));
  e.traffic = *traffic;
  add_levels(problem, schedule, machine, *counted, e);
  if (machine.device == Device::cpu) {
    add_cpu_terms(problem, machine, counted->flops.to_double(), e);
  } else if (auto done = add_gpu_estimate(problem, schedule, machine, exact_order, e); !done) {
    return std::unexpected(done.error());
  }
  e.dram_bound_bytes = bound_bytes(problem, schedule, whole_chip(machine));
  conclude(counted->flops.to_double(), e);
  return e;
}

}  // namespace tilewise
