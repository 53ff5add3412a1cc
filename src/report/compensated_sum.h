// Dot products in double whose rounding is caught and added back: the reference of a verification.
#pragma once

#include <array>
#include <cstdint>

namespace tilewise {

// The running state of one dot product. Eight independent lanes, so that compilers vectorise the
// loop; the value is as if computed in twice double's precision and rounded once. Source of the
// algorithm: Ogita, Rump, Oishi, "Accurate sum and dot product", 2005.
struct CompensatedSum {
  static constexpr int kLanes = 8;
  std::array<double, kLanes> sums{};
  std::array<double, kLanes> errors{};      // what rounding took from sums
  std::array<double, kLanes> magnitudes{};  // of |x y|

  [[nodiscard]] double value() const;
  [[nodiscard]] double magnitude() const;  // sum of |x y|, for error bounds
};

// Adds x[i] y[i] for i < count. exact_products: every product of two values fits a double (values
// of 26 significand bits and fewer: all types but f64), so that only sums round.
void accumulate(CompensatedSum& sum, const double* x, const double* y, std::int64_t count,
                bool exact_products);

}  // namespace tilewise
