// What the launch order of blocks does to the L2 and to DRAM.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewise/count.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

// A grid of blocks that each compute block_m x block_n outputs over all of K, `slots` of them at a
// time (SMs times blocks an SM), launched in `order`. With clusters the order runs over whole
// clusters.
struct BlockGrid {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t block_m = 0, block_n = 0;
  std::int64_t slots = 0;
  int bytes_a = 2, bytes_b = 2;  // an element
  Order order;
  Cluster cluster;
  bool multicast = false;  // a tile that the blocks of a cluster share is looked up once
  std::int64_t batch = 1;  // products, launched one after another
  bool shared_a = false, shared_b = false;  // one A (or B) for the whole batch
  std::int64_t split_ways = 1;  // parts of K; the tiles of each follow those of the one before
};

// Reads of A and B, in bytes.
struct BlockTraffic {
  Count minimum;         // A and B once; of a batch, each matrix of it
  Count delivered;       // what arrives at the SMs: the blocks' tiles, in-bounds elements
  Count lookups;         // what the L2 is asked for: delivered, less the copies of a multicast
  double dram = 0;       // what misses the L2
  double wave_only = 0;  // the same without reuse between waves
  std::int64_t waves = 0;
  // false: more than kExactTiles tiles. dram is then that of one product times the batch and the
  // parts of K, and where one product alone has too many tiles, wave_only's estimate.
  bool exact = true;
};

constexpr std::int64_t kExactTiles = std::int64_t{1} << 18;

// DRAM reads under a least-recently-used L2 of capacity_bytes: the blocks of a wave advance through
// K together, C bypasses. A panel of A or B last used in wave u and used again in wave w has seen
//     D(t) = (1 - t) F(u..w-1) + t F(u+1..w)
// distinct bytes since, at the share t of K; F counts the panels that a range of waves uses. It
// hits where D(t) is at most the capacity, which is one interval of t. Within 0.85 % of an
// element-wise LRU simulation in 47 cases (docs/explain.md). On parts with a divided L2 the useful
// capacity is half.
// The waves run through a batch and the parts of a split K without a gap.
// walk: false leaves the launch order out (dram is then the minimum, a lower bound).
// Errors: a negative size, block or slots under 1. Cost: O(tiles log waves), 2^18 tiles at most.
[[nodiscard]] Result<BlockTraffic> block_traffic(const BlockGrid& grid, double capacity_bytes,
                                                 bool walk = true);

// The same dram, wave by wave (their sum is `dram`). Errors: those of block_traffic; a grid of more
// than kExactTiles tiles.
[[nodiscard]] Result<std::vector<double>> dram_by_wave(const BlockGrid& grid,
                                                       double capacity_bytes);

// The group that reads least within one wave: sqrt(slots block_n / block_m).
[[nodiscard]] double best_group(std::int64_t slots, std::int64_t block_m, std::int64_t block_n);

}  // namespace tilewise
