// The named schedules that could compute a problem, by their estimated time.
#pragma once

#include <optional>
#include <vector>

#include "tilewise/report.h"

namespace tilewise {

// What the named kernels multiply, beyond what their arithmetic could: the schedule's kernel takes
// the problem's type and compute. Layout, limits and architecture are check_fits()'s business.
[[nodiscard]] bool kernel_multiplies(const Schedule& schedule, const Problem& problem);

struct Ranking {
  std::vector<Alternative>
      alternatives;              // fastest first; exact for the first, lower bounds may follow
  std::optional<Schedule> best;  // nothing: none fits
  std::vector<Refusal> refused;  // kernels that would multiply it, and why they do not
  std::vector<Refusal> missing;  // those that need another architecture
};

// Where a block is too large for the machine, the nearest that fits takes part in its place, and
// its name says so. Best first: the quick lower bound of each is refined, from the most promising
// on, until none that is left can be faster than the best exact one. Unit of work: the walks over
// launch orders.
[[nodiscard]] Ranking rank_schedules(const Problem& problem, const Machine& machine);

}  // namespace tilewise
