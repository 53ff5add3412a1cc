// Single changes of a schedule, and what each would gain.
#pragma once

#include <vector>

#include "tilewise/report.h"

namespace tilewise {

// Changes that fit the machine and gain 3 % or more by the estimate, best first. Whether a kernel
// of that form exists is not asked.
[[nodiscard]] std::vector<Alternative> try_changes(const Problem& problem, const Schedule& schedule,
                                                   const Machine& machine,
                                                   const Estimate& estimate);

}  // namespace tilewise
