// How many blocks share an SM, how many waves a grid takes, and what padding wastes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewise/count.h"
#include "tilewise/machine.h"
#include "tilewise/result.h"

namespace tilewise {

// What one block asks for. shared_bytes: static and dynamic, without the system's reserve.
struct BlockResources {
  std::int64_t threads = 0;
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;
};

// Blocks of an SM as each limit alone allows, and their minimum. 0: the block cannot be launched.
struct Occupancy {
  std::int64_t by_registers = 0;
  std::int64_t by_shared = 0;
  std::int64_t by_warps = 0;
  std::int64_t by_blocks = 0;
  std::int64_t blocks_per_sm = 0;
  std::string limiter;   // "registers", "shared memory", "warps", "blocks": the first that binds
  double occupancy = 0;  // resident warps / warps_per_sm
};

// The rules of the toolkit's occupancy calculator: registers are given to a warp in units of 256
// over four sub-partitions, shared memory to a block in units of 128 bytes with the system's
// reserve added. Errors: a machine without these limits (a CPU), threads under 1. A block that
// cannot be launched is no error here: see check_block.
[[nodiscard]] Result<Occupancy> occupancy(const Limits& limits, const BlockResources& block);

// One limit that a block exceeds.
struct ExceededLimit {
  std::string
      limit;  // "threads a block", "registers a thread", "registers an SM", "shared memory a block"
  std::int64_t asked = 0, allowed = 0;
};

// Every limit that the block exceeds; empty: it can be launched.
[[nodiscard]] std::vector<ExceededLimit> exceeded_limits(const Limits& limits,
                                                         const BlockResources& block);

// T tiles over P slots (SMs times blocks an SM): ceil(T / P) waves, efficiency T / (P ceil(T / P)).
// No tiles: no wave, efficiency 0. Errors: slots under 1.
struct Waves {
  Count tiles, waves;
  double fraction = 0;  // T / P
  double efficiency = 0;
};
[[nodiscard]] Result<Waves> waves(Count tiles, std::int64_t slots);

// Useful share of the products formed by tiles of block_m x block_n with K padded to a multiple of
// block_k: MNK / (padded M, N, K). 0 where a size is 0. Errors: a negative size, an extent under 1.
[[nodiscard]] Result<double> padding_efficiency(std::int64_t m, std::int64_t n, std::int64_t k,
                                                std::int64_t block_m, std::int64_t block_n,
                                                std::int64_t block_k);

}  // namespace tilewise
