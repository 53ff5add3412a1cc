// What the first product of a process costs beyond itself.
#pragma once

#include <string>
#include <vector>

#include "tilewise/result.h"

namespace tilewise {

struct FirstCall {
  std::string type, schedule;
  std::string origin;     // of the kernel: "embedded", "disk", "compiled"
  double context_ms = 0;  // opening the driver and making the device's context
  double prepare_ms = 0;  // from the request to a plan that is ready
  double run_ms = 0;      // the first product of 256 x 256 x 256, enqueued and finished
  double second_run_ms = 0;
};

// float32 and bf16 products by their default schedules; honest only as the first thing that a
// process does with the GPU. Error: no GPU.
[[nodiscard]] Result<std::vector<FirstCall>> time_first_calls();

}  // namespace tilewise
