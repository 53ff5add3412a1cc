// A drawing of where a GPU schedule's operands lie, from the address functions that its kernel
// uses.
#pragma once

#include <string>

#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

// Rungs 01, 02 and 11: the lines of A and B in global memory that a warp touches at one k. The
// others: the first lines of both tiles in shared memory, bank by bank (or 16 bytes by 16 bytes on
// tensor cores), each place with the element that lies there; what the first warp reads at once is
// coloured. Error: a CPU schedule, or a kernel that is no rung.
[[nodiscard]] Result<std::string> layout_svg(const Schedule& schedule);

}  // namespace tilewise
