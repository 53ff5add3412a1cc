// What only a run can tell of this machine: the multiply-add peak and the bandwidths of its
// memories.
#pragma once

#include "tilewise/machine.h"

namespace tilewise {

// host_machine() with its measured figures filled in: peaks of f32 and f64, and the read bandwidth
// of DRAM and each cache with every usable CPU at work. Takes about a second; another program that
// runs at the same time makes the figures lower.
[[nodiscard]] Machine measured_host();

}  // namespace tilewise
