// Checks of pointers that every device needs before anything is written. Only addresses are looked
// at, so device pointers are fine.
#pragma once

#include "plan/plan_implementation.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise {

// Errors: a null pointer that would be read or written, too few operands, a workspace too small, D
// overlapping A or B, or partly overlapping C or an operand. D may be exactly C or an [m,n]
// operand.
[[nodiscard]] Result<void> check_arguments(const Problem& problem, std::size_t workspace_bytes,
                                           const RunArguments& arguments);

// A strided matrix by its addresses; strides in bytes.
struct Region {
  const void* data = nullptr;
  std::int64_t rows = 0, columns = 0, batch = 0;
  std::int64_t row_bytes = 0, column_bytes = 0, batch_bytes = 0;
  std::int64_t element_bytes = 0;
};

// exact: the same elements at the same addresses. partial: some byte may be shared. Two regions
// whose rows interleave at the same pitch without touching (the halves of a wider matrix, heads
// beside each other inside its rows) share nothing.
enum class Overlap { none, exact, partial };
[[nodiscard]] Overlap find_overlap(const Region& x, const Region& y);

}  // namespace tilewise
