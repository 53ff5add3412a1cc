#include "report/compensated_sum.h"

#include <cmath>

namespace tilewise {
namespace {

#define TILEWISE_INLINE [[gnu::always_inline]] inline

// s + error = x + y exactly.
TILEWISE_INLINE double two_sum(double x, double y, double& error) {
  const double s = x + y;
  const double y_part = s - x;
  error = (x - (s - y_part)) + (y - y_part);
  return s;
}

// The upper 26 bits of x; the rest is x minus them.
TILEWISE_INLINE double upper_half(double x) {
  constexpr double kSplitter = 134217729.0;  // 2^27 + 1
  const double scaled = kSplitter * x;
  return scaled - (scaled - x);
}

// x y - product exactly, where no partial product underflows or overflows.
template <bool HasFma>
TILEWISE_INLINE double product_error(double x, double y, double product) {
  if constexpr (HasFma) return __builtin_fma(x, y, -product);
  const double x_high = upper_half(x), x_low = x - x_high;
  const double y_high = upper_half(y), y_low = y - y_high;
  return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}

template <bool HasFma, bool ExactProducts>
TILEWISE_INLINE void accumulate_lanes(CompensatedSum& sum, const double* x, const double* y,
                                      std::int64_t count) {
  constexpr int kLanes = CompensatedSum::kLanes;
  double sums[kLanes], errors[kLanes], magnitudes[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    sums[lane] = sum.sums[lane];
    errors[lane] = sum.errors[lane];
    magnitudes[lane] = sum.magnitudes[lane];
  }
  const auto add = [&](int lane, double u, double v) {
    const double product = u * v;
    double lost = 0;
    sums[lane] = two_sum(sums[lane], product, lost);
    if constexpr (!ExactProducts) lost += product_error<HasFma>(u, v, product);
    errors[lane] += lost;
    magnitudes[lane] += std::fabs(product);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) add(lane, x[i + lane], y[i + lane]);
  }
  for (; i < count; ++i) add(static_cast<int>(i % kLanes), x[i], y[i]);
  for (int lane = 0; lane < kLanes; ++lane) {
    sum.sums[lane] = sums[lane];
    sum.errors[lane] = errors[lane];
    sum.magnitudes[lane] = magnitudes[lane];
  }
}

template <bool HasFma>
TILEWISE_INLINE void accumulate_any(CompensatedSum& sum, const double* x, const double* y,
                                    std::int64_t count, bool exact_products) {
  if (exact_products) {
    accumulate_lanes<HasFma, true>(sum, x, y, count);
  } else {
    accumulate_lanes<HasFma, false>(sum, x, y, count);
  }
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) void accumulate_avx2(CompensatedSum& sum, const double* x,
                                                         const double* y, std::int64_t count,
                                                         bool exact_products) {
  accumulate_any<true>(sum, x, y, count, exact_products);
}
#endif

}  // namespace

double CompensatedSum::value() const {
  double total = 0, error = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    double lost = 0;
    total = two_sum(total, sums[lane], lost);
    error += lost + errors[lane];
  }
  // With an infinity or NaN among the terms the error terms are NaN; the plain sum is the answer.
  return std::isfinite(total) ? total + error : total;
}

double CompensatedSum::magnitude() const {
  double total = 0;
  for (const double magnitude : magnitudes) total += magnitude;
  return total;
}

void accumulate(CompensatedSum& sum, const double* x, const double* y, std::int64_t count,
                bool exact_products) {
#ifdef __x86_64__
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2) return accumulate_avx2(sum, x, y, count, exact_products);
#endif
  accumulate_any<false>(sum, x, y, count, exact_products);
}

}  // namespace tilewise
