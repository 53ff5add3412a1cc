// One product of matrices in host memory, computed on a GPU.
#pragma once

#include "report/run_product.h"

namespace tilewise {

// Copies the operands to the device, runs, times by events, copies D back and checks it: sums of
// the same elements as on the CPU, in float64 on the device. report: device, schedule and counts
// are set already. Errors: memory, launches. D is written even where it is wrong.
[[nodiscard]] Result<void> run_gpu_product(const Plan& plan, const ProductRequest& request,
                                           ProductReport& report);

}  // namespace tilewise
