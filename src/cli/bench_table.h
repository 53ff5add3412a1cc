// What tilewise bench prints: a line a shape, and what they say together.
#pragma once

#include <string>
#include <vector>

#include "io/bench_document.h"

namespace tilewise::cli {

[[nodiscard]] std::string bench_table(const std::vector<BenchRow>& rows);

}  // namespace tilewise::cli
