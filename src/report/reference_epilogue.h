// The value that an epilogue should give, with a bound on what rounding may change in it.
#pragma once

#include <cstdint>

#include "tilewise/problem.h"

namespace tilewise {

// A value and the largest distance of a computed one from it. An error of infinity: nothing is
// known (an intermediate result may overflow).
struct Bounded {
  double value = 0;
  double error = 0;
};

// Which output, and where the operands lie (element (0, 0) of batch 0).
struct OutputPlace {
  std::int64_t b = 0, m = 0, n = 0;
  const void* c = nullptr;
  const void* const* operands = nullptr;
};

// Evaluates the expression in double with functions of the C library, and a running error analysis
// in the arithmetic of the product beside it: each operation adds its own rounding to what its
// inputs bring. The result includes the rounding to the type of D.
[[nodiscard]] Bounded reference_epilogue(const Problem& problem, const OutputPlace& place,
                                         Bounded accumulator);

// Whether a computed value is within the bound; NaN only where NaN is expected, infinity where it
// is expected or where the bound reaches past the largest number of the type.
[[nodiscard]] bool is_within(double computed, const Bounded& expected, Type type);

// A bound on the error of the sum over k: gamma_K times the sum of |a b| (docs/numerics.md), with
// the rounding of the operands that the arithmetic brings. gpu: sums that truncate, as tensor cores
// do.
struct AccumulatorArithmetic {
  bool gpu = false;
  std::int64_t block_k = 0;  // sums of this many products first, then the sum of those; 0: one sum
  int promote_every = 0;     // of FP8 on the GPU: 0 for sums kept in the tensor core
};
[[nodiscard]] double accumulator_error(const Problem& problem,
                                       const AccumulatorArithmetic& arithmetic, double magnitude);

}  // namespace tilewise
