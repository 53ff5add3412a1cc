// Schedules of the packed kernel: fitted to a problem and to caches, or given and then taken as
// they are. Tile sizes reach the kernel through PackedTiles only, and those come from the schedule
// only.
#pragma once

#include <cstdint>
#include <string_view>

#include "cpu/caches.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::cpu {

// Elements that K is summed over before the sum joins those of the blocks before it (fit_kc gives
// the exact length). It depends on K alone, never on the machine: the blocks of k decide the bits.
inline constexpr std::int64_t kBlockOfK = 256;

// The register tile and the accumulator that a kernel is compiled for.
struct KernelShape {
  std::string_view target;  // "avx2"
  std::int64_t mr = 0, nr = 0;
  Type accumulator = Type::f32;
};

// Levels as the kernel loops over them:
//   nc        m x n of the output: one task of one thread, all of k
//   kc        k: a panel of B, kc x nc, is packed for the task
//   mc        m: a block of A, mc x kc, is packed and stays in the second-level cache
//   register  mr x nr sums in registers
// All are 1 or more and no larger than the problem needs.
struct PackedTiles {
  std::int64_t task_m = 1, task_n = 1;
  std::int64_t kc = 1;
  std::int64_t mc = 1;
};

// threads: how many will share the work; tasks are cut so that each gets several.
[[nodiscard]] Schedule fit_packed_schedule(const Problem& problem, const KernelShape& kernel,
                                           const CacheSizes& caches, int threads);

// ceil(K / blocks) for the number of blocks nearest to K / kBlockOfK.
[[nodiscard]] std::int64_t fit_kc(std::int64_t k);

// Errors: another kernel, a register tile that this one was not compiled for, a field that it does
// not honour, arithmetic other than the problem's. Each message names a schedule that would do.
[[nodiscard]] Result<PackedTiles> resolve_packed_schedule(const Schedule& schedule,
                                                          const Problem& problem,
                                                          const KernelShape& kernel);

}  // namespace tilewise::cpu
