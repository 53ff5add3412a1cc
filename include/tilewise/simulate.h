// Counted execution: the tiled loops run element by element through explicit buffers, with a
// counter on every read. What it counts equals count() to the unit; what it computes is checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewise/count.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"

namespace tilewise {

struct SimulatedLevel {
  Level level = Level::block;
  std::uint64_t reads_a = 0;  // counted one by one
  std::uint64_t reads_b = 0;
};

struct Simulation {
  std::vector<double> d;  // (batch, m, n), row-major
  std::vector<SimulatedLevel> levels;
  std::uint64_t global_reads = 0;  // of the outermost level
  // Of the innermost level where there are two or more; with one level, two operands a
  // multiply-add, read from the tile buffers.
  std::uint64_t shared_reads = 0;
  std::uint64_t writes = 0;  // elements of d
  std::uint64_t multiply_adds = 0;
  std::int64_t phases = 0;  // of one output tile; 0 without one
  std::int64_t blocks = 0;  // output tiles of the outermost level
  Traffic traffic;          // the same counts as rows
};

// Values as double, addressed by the problem's strides: a (batch, m, k), b (batch, k, n), c (batch,
// m, n) and the operands in the epilogue's order; what the epilogue does not read may be empty.
// Sums and epilogue run in float32, in double for f64 problems. K is never split: sums run in order
// of k. Errors: invalid problem or schedule, a span that is too short, or more than 2^40 element
// reads in all (it would not end). Cost: O(reads) time; memory for d, the accumulators and buffers
// of one tile a level.
[[nodiscard]] Result<Simulation> simulate(const Problem& problem, const Schedule& schedule,
                                          std::span<const double> a, std::span<const double> b,
                                          std::span<const double> c = {},
                                          std::span<const std::span<const double>> operands = {});

// The two barriers of a shared-memory phase. Without the first, a warp reads a tile before another
// has filled its part; without the second, a warp overwrites a tile that another still reads.
enum class MissingBarrier : std::uint8_t { none, after_load, after_use };

struct BarrierReport {
  std::vector<double> d;  // what such a kernel computes under the worst order of the warps
  std::vector<double> expected;
  std::int64_t wrong_elements = 0;
  std::int64_t first_wrong = -1;  // index into d; -1: none is wrong
  double max_error = 0;
  // The first wrong product term: which element of which operand was stale or overwritten.
  std::string first_fault;
};

// A shared-tile kernel with the tiles of the schedule's block level. A warp is one row of threads,
// and a thread owns as many rows as the thread tile has (one without it); every warp copies its
// part of both tiles, whether or not it owns an output inside D. Orders in which whole warps take
// turns are considered, and the one with the most wrong outputs is run: without the first barrier
// each warp loads and multiplies in turn, without the second each multiplies and loads the next
// phase in turn; the one warp that this leaves right changes from phase to phase. With both
// barriers the result is right. Errors: no block tile; more than one stage, which needs no second
// barrier; a batch; more than 2^33 multiply-adds.
[[nodiscard]] Result<BarrierReport> simulate_barriers(const Problem& problem,
                                                      const Schedule& schedule,
                                                      std::span<const double> a,
                                                      std::span<const double> b,
                                                      MissingBarrier missing);

}  // namespace tilewise
