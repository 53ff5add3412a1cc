// What a schedule asks of a machine and how long it would take there: threads, registers and shared
// memory of a block, traffic in four quantities by level, and a time with its terms. Closed forms
// only; nothing is run. Every assumption is stated where the figure is (docs/explain.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/block_order.h"
#include "tilewise/count.h"
#include "tilewise/machine.h"
#include "tilewise/occupancy.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"

namespace tilewise {

// What multiplies: float32 or float64 lanes, mma.sync, wgmma, or a CPU's vector units.
enum class Arithmetic : std::uint8_t { lanes, mma, wgmma, cpu };
[[nodiscard]] std::string_view to_string(Arithmetic arithmetic);
[[nodiscard]] Arithmetic arithmetic_of(const Schedule& schedule);

// The machine's peak that bounds the product, and how many of its products one of ours takes (3 for
// f32_tf32x3, 6 and 9 for the bf16 splits, else 1).
struct PeakUse {
  std::string peak;  // "f32", "bf16", ...
  int products = 1;
};
// Errors: a compute that the operands' type does not have, or that is not the schedule's; a type
// that this arithmetic does not multiply. The message names one that would do.
[[nodiscard]] Result<PeakUse> peak_use(const Problem& problem, const Schedule& schedule);

// One block (GPU). Registers are an estimate: accumulators + operands + other_registers a thread,
// the last a constant for addresses and counters; what the compiler gives is in `ladder` and
// `profile`.
struct Footprint {
  BlockResources
      block;  // shared_bytes: stages * block.k * (block.m + block.n) * bytes, pad included
  std::int64_t accumulators = 0, operands = 0, other_registers = 0;
  std::int64_t block_m = 0, block_n = 0, block_k = 0;  // what one block computes at a time
  std::string formula;  // how the registers and bytes come about, in one line
};
// Errors: a CPU schedule, an invalid one, a type that it does not multiply.
[[nodiscard]] Result<Footprint> footprint(const Problem& problem, const Schedule& schedule);

// The schedule can be launched on the machine. Errors (missing_capability where another
// architecture would do, else bad_request): which limit, by how much, and the nearest schedule that
// fits.
[[nodiscard]] Result<void> check_fits(const Problem& problem, const Schedule& schedule,
                                      const Machine& machine);

// A schedule whose block is too large for a machine, changed as little as makes it fit: fewer
// stages, else a smaller block. Nothing where it fits as it is, or where no such change helps.
struct NearestFit {
  Schedule schedule;   // its name says the change
  std::string change;  // "3 stages", "block.n = 128"
};
[[nodiscard]] std::optional<NearestFit> nearest_fit(const Problem& problem,
                                                    const Schedule& schedule,
                                                    const Machine& machine);

// The reads that enter one level of the tiling, beside what no schedule can beat.
struct LevelEstimate {
  std::string level;  // "block", "thread", ...
  std::string
      memory;  // that it reads from: "global", "shared", "registers"; "dram", "l3", ... on CPUs
  std::int64_t m = 0, n = 0, k = 0;
  Count reads;  // elements of A and B
  double bytes = 0;
  double intensity = 0;  // FLOP a byte
  double ridge = 0;      // FLOP a byte at which that memory's bandwidth meets the peak; 0: unknown
  double bound_bytes = 0;  // mixed_bound for the memories that this level reads into; 0: none
};

struct TimeTerm {
  std::string name;  // "arithmetic", "shared memory", "L1", "L2", "DRAM"
  double time_us = 0;
  std::string how;  // the quantity over the rate, with the rate's source
};

struct Estimate {
  Arithmetic arithmetic = Arithmetic::lanes;
  PeakUse peak;
  double peak_tflops = 0;      // the datasheet's; 0: unknown
  double ridge = 0;            // against DRAM, datasheet figures
  double block_intensity = 0;  // 2 bm bn / (bytes of a row of A and a column of B): FLOP a byte
  std::vector<LevelEstimate>
      memories;                       // "l2" and "dram": what is asked of each, by the launch order
  std::vector<LevelEstimate> levels;  // of the tiling, outermost first
  // The four quantities, in rows as in traffic.h: elements by level; issued (ffma or mma, with
  // padding); units (sectors, wavefronts, bulk-copy bytes); bytes (delivered, L2 look-ups, DRAM).
  Traffic traffic;
  double dram_bound_bytes = 0;  // reads of A and B that no order can beat: all memory on the chip

  // GPU only
  Footprint footprint;
  Occupancy occupancy;
  Waves waves;
  // Share of all SMs' time that the busiest SM's work fills: T / (SMs ceil(T / SMs)) for T blocks,
  // less where the parts of a split K are uneven; 1 at best. What an SM does by itself (arithmetic,
  // shared memory, L1) is divided by it. It is never under the efficiency of the waves: blocks that
  // share an SM share its units, so a wave that half fills the slots need not take a whole wave's
  // time.
  double busy = 0;
  double padding_efficiency = 0;
  BlockGrid grid;                        // the launch, as its DRAM reads are counted
  std::int64_t dram_capacity_bytes = 0;  // of the L2, as the DRAM reads use it
  bool dram_exact = true;

  std::vector<TimeTerm> terms;  // overlapped: the time is the largest
  double time_us = 0;           // 0: no rate is known
  double tflops = 0;            // useful FLOP over that time
  std::string limiter;          // name of the largest term
  std::vector<std::string> notes;
};

// exact_order false: DRAM reads of A and B are taken as the minimum (a lower bound, quick). Batches
// count as separate products. Errors: an invalid problem or schedule, a schedule for the other kind
// of device, one that does not fit. Cost: about 10 ms at most, for the walk over the launch order.
[[nodiscard]] Result<Estimate> estimate(const Problem& problem, const Schedule& schedule,
                                        const Machine& machine, bool exact_order = true);

// "sm_90a" is 90; 0 for others.
[[nodiscard]] int compute_capability(const Machine& machine);

}  // namespace tilewise
