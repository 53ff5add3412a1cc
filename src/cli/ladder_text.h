// The measured ladder for people.
#pragma once

#include <string>

#include "report/ladder.h"

namespace tilewise::cli {

[[nodiscard]] std::string ladder_table(const Ladder& ladder);

// Bars of TFLOP/s, and the roofline of device memory with each rung on it.
[[nodiscard]] std::string ladder_svg(const Ladder& ladder);

}  // namespace tilewise::cli
