// tilewise count --units: what a rung of the GPU ladder issues, and what that costs in units.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::cli {

struct UnitsRequest {
  std::vector<std::string> sizes;
  Schedule schedule;
  std::string dtype;   // "": the first that the arithmetic takes: f32, bf16 or f8e4m3
  std::string layout;  // "": nt for elements that tensor cores read along K alone, else nn
  bool json = false;
};

// The text that the verb prints. Errors: what count_units() refuses, and unknown names.
[[nodiscard]] Result<std::string> units_report(const UnitsRequest& request, const Console& console);

}  // namespace tilewise::cli
