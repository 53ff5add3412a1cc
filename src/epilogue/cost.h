// What an epilogue costs in memory traffic: fused into the product, and as passes of its own.
// docs/epilogue.md has the formulas.
#pragma once

#include <array>
#include <cstdint>

#include "tilewise/count.h"
#include "tilewise/epilogue.h"
#include "tilewise/types.h"

namespace tilewise {

// The output; c_is_shared: one C for all matrices of the batch (batch stride 0).
struct EpilogueShape {
  std::int64_t m = 0, n = 0, batch = 1;
  Type type_c = Type::f32;
  Type type_d = Type::f32;
  bool c_is_shared = false;
};

struct OperandCost {
  Count
      elements;  // distinct: 1 for a scalar, n for [n], m for [m], m n for [m,n]; times batch for b
  Count bytes;
  Count fetches;  // by a kernel that fetches the operand once for each output: m n batch
};

// All zero where there is no output. Operands that the expression does not read cost nothing.
struct EpilogueCost {
  std::array<OperandCost, Epilogue::kMaxOperands> operands{};
  OperandCost c;
  Count fused_bytes;  // the distinct bytes of all operands and C: what fusing adds to the product's

  // The same expression with one kernel an operation, each reading its inputs and writing its
  // result in D's type to memory. Operations on constants alone are not counted.
  int passes = 0;
  Count unfused_bytes;  // of these passes, and of nothing else
  Count saved_bytes;    // unfused_bytes - fused_bytes; 0 for an expression without operations
};

// The epilogue must be valid.
[[nodiscard]] EpilogueCost epilogue_cost(const Epilogue& epilogue, const EpilogueShape& shape);

// Elements that enter a level whose tiles (tiles_m along m, tiles_n along n, of each batch matrix)
// read what they need of an operand once: n tiles_m batch for [n], m n batch for [m,n].
[[nodiscard]] Count operand_reads(const EpilogueOperand& operand, const EpilogueShape& shape,
                                  Count tiles_m, Count tiles_n);

}  // namespace tilewise
