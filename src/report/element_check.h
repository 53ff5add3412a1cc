// Compares elements of a result with their float64 references, one after another.
#pragma once

#include <cstdint>

#include "report/sample_positions.h"
#include "report/verify.h"

namespace tilewise {

class ElementCheck {
 public:
  explicit ElementCheck(const ComputedProduct& product);

  // sum: of a b over k, in float64, within sum_error. magnitude: the sum of |a b|. The element is
  // read from product.d, and the epilogue's operands where the product has them.
  void add(std::int64_t batch, Position position, double sum, double magnitude,
           double sum_error = 0);

  [[nodiscard]] const Verification& result() const { return result_; }

 private:
  const ComputedProduct& product_;
  AccumulatorArithmetic arithmetic_;
  Verification result_;
};

}  // namespace tilewise
