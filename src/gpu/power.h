// What a card draws and at which clock it runs, from NVML, which comes with the driver.
#pragma once

#include "gpu/device.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

struct CardState {
  double power_w = 0;
  int clock_mhz = 0;  // of the SMs
};
// As NVML averages them at this moment. Error (missing_capability): no NVML, or it does not say.
[[nodiscard]] Result<CardState> card_state(const GpuDevice& device);

}  // namespace tilewise::gpu
