// Which kernels are compiled when the library is built.
#pragma once

#include <string>
#include <vector>

#include "tilewise/problem.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

struct PrecompiledKernel {
  Problem problem;
  Schedule schedule;
  std::string architecture;
  bool aligned = true;
};

// What choose_schedule takes for dense products: the common types, layouts and outputs; at most 48.
// all: every named schedule besides, with each type that its kernel takes.
[[nodiscard]] std::vector<PrecompiledKernel> default_set(bool all);

}  // namespace tilewise::gpu
