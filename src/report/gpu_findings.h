// What a machine has to run products on a GPU, and what is missing.
#pragma once

#include <string>
#include <vector>

#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise {

// One thing that was looked for.
struct Finding {
  std::string what;  // "card", "driver", "NVRTC", "cuBLASLt", "kernel cache", "built-in kernels"
  bool found = false;
  std::string details;  // what was found, or why not
};

// Opens the driver and the compilers where they are present; no context is made.
[[nodiscard]] std::vector<Finding> find_gpu_parts();

// An error (missing_capability) where no GPU can be used.
[[nodiscard]] Result<void> require_gpu();

// A GPU is here and a kernel takes the problem on it. Errors: no GPU (missing_capability), or no
// kernel for the types or the arithmetic (bad_request).
[[nodiscard]] Result<void> gpu_takes(const Problem& problem);

}  // namespace tilewise
