// The error of each function against the C library in the next wider type, over its whole range.
// Set TILEWISE_SLOW_TESTS to try every float (minutes); the normal run takes every kStep-th and the
// neighbourhood of every power of two.
#include "epilogue/approximations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "epilogue/evaluate.h"
#include "epilogue/reference.h"

namespace tilewise {
namespace {

// Units in the last place of the exact result, as docs/epilogue.md states them. per_argument: added
// for each unit of |2 sqrt(2/pi) (x + 0.044715 x^3)|, the rounding of which e^ magnifies.
struct Bound {
  EpilogueOp op;
  double float_ulps, double_ulps, per_argument;
};
constexpr Bound kBounds[] = {
    {EpilogueOp::exp, 1.1, 1.1, 0},     {EpilogueOp::tanh, 1.5, 1.5, 0},
    {EpilogueOp::sigmoid, 2.5, 2.5, 0}, {EpilogueOp::silu, 3.5, 3.5, 0},
    {EpilogueOp::gelu_erf, 6.5, 9, 0},  {EpilogueOp::gelu_tanh, 5, 5, 3},
};

template <class T>
double allowed_ulps(const Bound& bound, T x) {
  const double argument = std::fabs(1.6 * (double{x} + 0.044715 * x * x * x));
  return (sizeof(T) == 4 ? bound.float_ulps : bound.double_ulps) +
         (bound.per_argument > 0 ? bound.per_argument * argument : 0);
}

template <class T>
using Wider = std::conditional_t<sizeof(T) == 4, double, long double>;

// Error in units of the spacing of T just above |exact|; infinite where only one is infinite.
template <class T>
double error_ulps(T got, Wider<T> exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(got) || std::isinf(rounded) || std::isinf(got))
    return got == rounded ? 0 : INFINITY;
  const T size = std::fabs(rounded);
  if (size == std::numeric_limits<T>::max()) return 0;
  const T spacing = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return static_cast<double>(std::fabs(got - exact) / spacing);
}

template <class T>
class Checker {
 public:
  explicit Checker(const Bound& bound) : bound_(bound) {}
  ~Checker() { flush(); }

  void add(T x) {
    waiting_[count_++] = x;
    if (count_ == kChunk) flush();
  }

 private:
  void flush() {
    T values[kChunk];
    std::copy(waiting_, waiting_ + kChunk, values);
    apply(bound_.op, num_groups(kChunk), values, static_cast<const T*>(nullptr));
    for (int i = 0; i < count_; ++i) {
      const T x = waiting_[i];
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(values[i]));
        continue;
      }
      const double error = error_ulps(values[i], reference::apply<Wider<T>>(bound_.op, x, 0));
      if (!(error <= allowed_ulps(bound_, x)) && ++failures_ < 5) {
        ADD_FAILURE() << static_cast<int>(bound_.op) << " at " << x << ": " << values[i] << " is "
                      << error << " ulp off";
      }
    }
    count_ = 0;
  }

  const Bound& bound_;
  T waiting_[kChunk] = {};
  int count_ = 0;
  int failures_ = 0;
};

TEST(Approximations, FloatErrorIsBoundedOverTheWholeRange) {
  constexpr std::uint64_t kStep = 4093, kPatterns = std::uint64_t{1} << 32;
  const std::uint64_t step = std::getenv("TILEWISE_SLOW_TESTS") != nullptr ? 1 : kStep;
  for (const Bound& bound : kBounds) {
    Checker<float> checker(bound);
    for (std::uint64_t bits = 0; bits < kPatterns; bits += step) {
      checker.add(float_from_bits(static_cast<std::uint32_t>(bits)));
    }
    for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {
      for (std::uint32_t near = 0; near < 64; ++near) {
        checker.add(float_from_bits((exponent << 23) + near - 32));
      }
    }
  }
}

TEST(Approximations, DoubleErrorIsBoundedOverTheWholeRange) {
  std::mt19937_64 random(1);
  for (const Bound& bound : kBounds) {
    Checker<double> checker(bound);
    for (std::uint64_t exponent = 0; exponent < 4096; ++exponent) {
      for (std::uint64_t near = 0; near < 16; ++near) {
        checker.add(__builtin_bit_cast(double, (exponent << 52) + near - 8));
        checker.add(__builtin_bit_cast(double, (exponent << 52) + (random() >> 12)));
      }
    }
    for (double range : {0.5, 2.0, 8.0, 40.0, 800.0}) {
      std::uniform_real_distribution<double> uniform(-range, range);
      for (int i = 0; i < 50000; ++i) checker.add(uniform(random));
    }
  }
}

}  // namespace
}  // namespace tilewise
