// Which named schedule a product takes when none is asked for.
#pragma once

#include <string_view>

#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

// The fastest of the named schedules that can: bulk copies where the layout allows them and the
// architecture has them, else the kernels that take any layout. Error: a type or an arithmetic that
// no kernel has.
[[nodiscard]] Result<Schedule> choose_schedule(const Problem& problem,
                                               std::string_view architecture);

}  // namespace tilewise::gpu
