// Checks a product that was computed against compensated sums in double, through its epilogue.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "report/reference_epilogue.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

enum class VerifyMode : std::uint8_t { none, sample, full };
[[nodiscard]] std::string_view to_string(VerifyMode mode);
[[nodiscard]] Result<VerifyMode> parse_verify_mode(std::string_view name);

// A product in host memory; pointers as Plan::run takes them.
struct ComputedProduct {
  const Problem& problem;
  const Schedule& schedule;  // its outermost tile has the seams, its device the arithmetic
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  const void* d = nullptr;
  std::span<const void* const> operands;
};

struct VerifyOptions {
  VerifyMode mode = VerifyMode::sample;
  std::uint64_t seed = 1;
  int threads = 1;
  double product_s = 0;  // what the product took: the check may take as long, and 50 ms at least
  std::function<void(double)> progress;  // told the fraction done, now and then
};

struct CheckedElement {
  std::int64_t b = 0, m = 0, n = 0;
  double computed = 0;
  Bounded expected;
};

struct Verification {
  VerifyMode mode = VerifyMode::none;  // what was done: sample becomes full where that is cheap
  std::int64_t num_elements = 0;       // of the output
  std::int64_t num_checked = 0;
  std::int64_t num_wrong = 0;
  double max_error = 0;    // largest distance from the reference
  CheckedElement worst;    // the element that uses most of its bound: a wrong one, if there is one
  double worst_share = 0;  // error over bound there
  double seconds = 0;

  [[nodiscard]] bool passed() const { return num_wrong == 0; }
  // Of the worst element, whose bound is worst.expected.error.
  [[nodiscard]] double worst_error() const;
};

// sample: the positions of sample_positions.h, or every element where that takes no longer than the
// time the check may take. Coverage comes first: the samples of a thin product are never thinned.
// Cost: O(k) an element checked; threads besides the caller are started and joined.
[[nodiscard]] Verification verify(const ComputedProduct& product, const VerifyOptions& options);

}  // namespace tilewise
