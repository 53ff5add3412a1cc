// Executions against one fast memory of S elements, counted transfer by transfer: with explicit
// loads and drops (the pebble game that the bounds speak of), and under least-recently-used
// replacement (what a cache does without being told). Compare with count_resident (bounds.h).
#pragma once

#include <cstdint>

#include "tilewise/bounds.h"
#include "tilewise/result.h"

namespace tilewise {

struct FastMemoryRun {
  std::uint64_t reads_a = 0, reads_b = 0, reads_c = 0, writes_c = 0;  // elements, one by one
  std::uint64_t products = 0;  // multiply-adds; each had its a, b and c in fast memory
  std::int64_t peak = 0;       // most elements held at once
};

// The resident schedule with explicit pebbles: the tile of `resident` (rows x columns) stays, the
// shorter side of a second operand is held beside it, the third streams. Equals count_resident
// exactly. Uses m, n, k, fast_memory and output of the question. Errors: what count_resident
// refuses; a tile that does not fit (the message says by how much); more than 2^32 products. Cost:
// O(MNK) time, O(MK + KN + MN) memory.
[[nodiscard]] Result<FastMemoryRun> simulate_pebbles(const BoundQuestion& question,
                                                     Resident resident, std::int64_t rows,
                                                     std::int64_t columns);

// Outer-product order (tiles of C rows x columns; inside, k, then i, then j; each step touches a,
// b, c) on a fully associative LRU memory. An evicted c is written and read again; every c is
// written at the end. A square tile of edge a >= 3 reaches the C-resident count at S = a^2 + 3a + 1
// and not below (a = 2: at 10), where pebbles need a^2 + a + 1: a cache keeps dead elements.
// serpentine: odd tiles run k backwards, which saves one column of A or row of B at each tile
// change.
[[nodiscard]] Result<FastMemoryRun> simulate_lru(const BoundQuestion& question, std::int64_t rows,
                                                 std::int64_t columns, bool serpentine = false);

}  // namespace tilewise
