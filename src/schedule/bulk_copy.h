// What a bulk copy (TMA) and the tensor cores behind it ask of the operands' layout.
#pragma once

#include <string_view>

#include "tilewise/problem.h"

namespace tilewise {

// A and B have contiguous rows or columns, extents that 32-bit coordinates reach, rows (columns)
// and batches that start on multiples of 16 bytes; elements that are not of 16 bits lie along K in
// both. The message starts with `verb` and names the operand, the stride and the way out.
[[nodiscard]] Result<void> check_bulk_copy(const Problem& problem, std::string_view verb);

}  // namespace tilewise
