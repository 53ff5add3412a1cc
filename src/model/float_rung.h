// A float32 rung (03 to 10) as its schedule describes it, in the terms of kernels/parts/layout.cuh.
#pragma once

#include "model/float_tile_units.h"
#include "parts/layout.cuh"
#include "tilewise/schedule.h"

namespace tilewise {

// Whether the schedule's kernel is one of them.
[[nodiscard]] bool is_float_rung(const Schedule& schedule);

// Of a schedule that check_rung_tiles() takes; a thread without a tile has one output.
struct FloatRung {
  explicit FloatRung(const Schedule& schedule);

  SharedTile tile_a, tile_b;
  FragmentLayout fragment_a, fragment_b;  // what one read of a thread takes
  int threads = 0;
  bool by_columns = false;  // A as it lies in global memory (03, 04)
  bool may_merge = false;   // scalar reads that the compiler may merge

  // The first element of a thread's fragments in the block's tile.
  [[nodiscard]] MN first(int thread) const;

 private:
  MN block_, warp_;  // warp_ 0 x 0: no warp tiles
  MN thread_{1, 1}, repeat_{1, 1};
};

}  // namespace tilewise
