// What a bulk copy (TMA) and the tensor cores behind it ask of the operands' layout.
#pragma once

#include <string_view>

#include "tilewise/problem.h"
#include "tilewise/schedule.h"

namespace tilewise {

// A and B have contiguous rows or columns, extents that 32-bit coordinates reach, rows (columns)
// and batches that start on multiples of 16 bytes; elements that are not of 16 bits lie along K in
// both. The message starts with `verb` and names the operand, the stride and the way out.
[[nodiscard]] Result<void> check_bulk_copy(const Problem& problem, std::string_view verb);

// Whether a schedule's kernel reads elements of this type along K alone: tensor cores take those
// that are not of 16 bits so from shared memory, where bulk copies bring them.
[[nodiscard]] bool reads_along_k(const Schedule& schedule, Type type);

// "nn", "nt", "tn", "tt": which of A and B of a dense problem are transposed in memory.
[[nodiscard]] bool is_operand_layout(std::string_view text);
// What a schedule takes of this type where nothing is said: nt where it reads along K alone.
[[nodiscard]] std::string_view default_operand_layout(const Schedule& schedule, Type type);
// text: one of them.
void set_operand_layout(Problem& problem, std::string_view text);

}  // namespace tilewise
