// The part of an estimate that only GPUs have.
#pragma once

#include "tilewise/estimate.h"

namespace tilewise {

// Fills footprint, occupancy, waves, padding, memories, the issued, units and bytes rows of the
// traffic, and the terms of the time.
[[nodiscard]] Result<void> add_gpu_estimate(const Problem& problem, const Schedule& schedule,
                                            const Machine& machine, bool exact_order, Estimate& e);

}  // namespace tilewise
