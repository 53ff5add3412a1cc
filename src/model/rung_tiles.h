// Whether a schedule has the tiles that a rung of the ladder works on, so that what its kernel does
// can be counted and drawn.
#pragma once

#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

// The levels of the kernel's loops have tiles, none larger than a block could hold, each whole
// inside the one around it. Kernels that are no rungs, and those without such levels, are taken.
[[nodiscard]] Result<void> check_rung_tiles(const Schedule& schedule);

}  // namespace tilewise
