// One call: prepare and run, with a bounded cache of plans.
#pragma once

#include <span>

#include "tilewise/plan.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise {

// D = epilogue(A B, C, operands) on host memory, on the CPU of this machine. Thread-safe.
// Example (row-major float32):
//     Problem p = make_problem(m, n, k);
//     auto done = matmul(p, a, b, nullptr, d);
[[nodiscard]] Result<void> matmul(const Problem& problem, const void* a, const void* b,
                                  const void* c, void* d,
                                  std::span<const void* const> operands = {});

}  // namespace tilewise
