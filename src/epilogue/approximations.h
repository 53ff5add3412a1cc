// exp, tanh, sigmoid, silu and gelu without calls, tables or branches: compilers vectorise a loop
// over any of them. The error bounds are in docs/epilogue.md and tested over the whole range
// (tests/epilogue/approximations_test.cpp). NaN gives NaN; where a limit exists, infinity gives it.
//
// The polynomials are minimax fits (Remez, 60 digits). Coefficients are written lowest order first.
#pragma once

#include <cstdint>
#include <type_traits>

#include "epilogue/target.h"

namespace tilewise::inline TILEWISE_TARGET {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
[[gnu::always_inline]] inline T horner(T, T c0) {
  return c0;
}
template <class T, class... C>
[[gnu::always_inline]] inline T horner(T x, T c0, C... rest) {
  return c0 + x * horner<T>(x, static_cast<T>(rest)...);
}

template <class T>
[[gnu::always_inline]] inline T absolute(T x) {
  constexpr auto kMask = static_cast<bits_of<T>>(~bits_of<T>(0)) >> 1;
  return __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, x) & kMask);
}

// condition ? x : y on the bits. With ?: GCC moves the arithmetic of an arm under a branch and
// then, as floating-point operations may trap, does not vectorise the loop.
template <class T>
[[gnu::always_inline]] inline T select(bool condition, T x, T y) {
  const bits_of<T> mask = bits_of<T>(0) - static_cast<bits_of<T>>(condition);
  return __builtin_bit_cast(T,
                            static_cast<bits_of<T>>((__builtin_bit_cast(bits_of<T>, x) & mask) |
                                                    (__builtin_bit_cast(bits_of<T>, y) & ~mask)));
}

// NaN stays NaN in both.
template <class T>
[[gnu::always_inline]] inline T at_most(T limit, T x) {
  return select(x > limit, limit, x);
}
template <class T>
[[gnu::always_inline]] inline T at_least(T limit, T x) {
  return select(x < limit, limit, x);
}

// e^x = value * scale1 * scale2. Two factors, each a normal power of two: their product alone would
// overflow before e^x does, and a subnormal result is rounded once.
template <class T>
struct ExpParts {
  T value, scale1, scale2;
};

// Below -kExpLimit both e^x and x e^x round to zero.
template <class T>
inline constexpr T kExpLimit = sizeof(T) == 4 ? T(110) : T(760);

// e^(x + low), for -kExpLimit <= x <= 89 (float) or 710 (double) and |low| < 1/8.
// x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 is split so that n times its first part is exact.
template <class T>
[[gnu::always_inline]] inline ExpParts<T> exp_parts(T x, T low) {
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr T kLog2E = T(1.44269504088896340736);
  constexpr T kLn2High = kSingle ? T(0.693145751953125) : T(6.93147180369123816490e-01);
  constexpr T kLn2Low = kSingle ? T(1.42860682030941723212e-6) : T(1.90821492927058770002e-10);
  // Adding 1.5 * 2^(significand bits - 1) rounds to an integer, which is then in the lowest bits.
  constexpr T kRounder = kSingle ? T(12582912.0) : T(6755399441055744.0);
  constexpr int kMantissa = kSingle ? 23 : 52;
  constexpr bits_of<T> kOffset = kSingle ? 256 : 2048;  // makes n positive

  const T shifted = x * kLog2E + kRounder;
  const T n = shifted - kRounder;
  const T r = (x - n * kLn2High) + (low - n * kLn2Low);
  T p;
  if constexpr (kSingle) {
    p = horner<T>(r, 0.499999934123142073, 0.16666520107312827017, 0.041668394241916443935,
                  0.0083687804576973971235, 0.0013814465817592290778);
  } else {
    p = horner<T>(r, 0.5, 0.16666666666666683571, 0.041666666666666089105, 0.008333333333316917039,
                  0.0013888888889117266006, 0.00019841269896681004751, 0.000024801586924603452948,
                  2.755723455873352433e-6, 2.7557582795468803795e-7, 2.5112144509561869492e-8,
                  2.0826536609423388812e-9);
  }
  const bits_of<T> biased =
      __builtin_bit_cast(bits_of<T>, shifted) - __builtin_bit_cast(bits_of<T>, kRounder) + kOffset;
  const bits_of<T> half = biased >> 1;  // n / 2 + kOffset / 2, and kOffset / 2 - 1 is the bias
  return {T(1) + (r + r * r * p), __builtin_bit_cast(T, (half - 1) << kMantissa),
          __builtin_bit_cast(T, (biased - half - 1) << kMantissa)};
}

// A multiplication whose result is subnormal, or underflows, takes a processor some 150 cycles. So
// what may be that small is formed times kLift, and then lowered by integer arithmetic.
template <class T>
inline constexpr T kLift = sizeof(T) == 4 ? T(0x1p64) : T(0x1p512);

// lifted / kLift, rounded to nearest even as the division would be. For finite values.
template <class T>
[[gnu::always_inline]] inline T lowered(T lifted) {
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr int kMantissa = kSingle ? 23 : 52;
  constexpr bits_of<T> kLiftBits = static_cast<bits_of<T>>(kSingle ? 64 : 512) << kMantissa;
  constexpr T kLeastNormal = T(kSingle ? 0x1p-126 : 0x1p-1022) * kLift<T>;
  const T magnitude = absolute(lifted);
  const bits_of<T> sign =
      __builtin_bit_cast(bits_of<T>, lifted) ^ __builtin_bit_cast(bits_of<T>, magnitude);
  // The sum's unit in the last place is that of a subnormal number, times kLift.
  const bits_of<T> subnormal = __builtin_bit_cast(bits_of<T>, magnitude + kLeastNormal) -
                               __builtin_bit_cast(bits_of<T>, kLeastNormal);
  const bits_of<T> normal = __builtin_bit_cast(bits_of<T>, magnitude) - kLiftBits;
  const bits_of<T> mask = bits_of<T>(0) - static_cast<bits_of<T>>(magnitude < kLeastNormal);
  return __builtin_bit_cast(T, (subnormal & mask) | (normal & ~mask) | sign);
}

template <class T>
[[gnu::always_inline]] inline T exponential(T x) {
  constexpr T kOverflow = sizeof(T) == 4 ? T(89) : T(710);
  x = at_least(-kExpLimit<T>, at_most(kOverflow, x));
  const ExpParts<T> e = exp_parts<T>(x, T(0));
  const bool negative = x < T(0);
  const T result = e.value * e.scale1 * select(negative, e.scale2 * kLift<T>, e.scale2);
  return select(negative, lowered(result), result);
}

template <class T>
[[gnu::always_inline]] inline T hyperbolic_tangent(T x) {
  constexpr T kSmall = T(0.55);  // below it 1 - 2 / (e^2x + 1) would cancel
  constexpr T kLarge = T(20);
  T a = absolute(x);
  const bool small = a < kSmall;
  a = at_most(kLarge, a);
  const ExpParts<T> e = exp_parts<T>(a + a, T(0));
  const T outer = T(1) - T(2) / (e.value * e.scale1 * e.scale2 + T(1));
  const T s = x * x;
  T p;
  if constexpr (sizeof(T) == 4) {
    p = horner<T>(s, -0.3333331804576257605, 0.13332601687044432258, -0.053853858049606077851,
                  0.021077758705868686068, -0.0062824737149880988608);
  } else {
    p = horner<T>(s, -0.33333333333333332199, 0.13333333333333075717, -0.053968253968049784241,
                  0.021869488528031677461, -0.008863235340239412393, 0.0035921252114608044122,
                  -0.0014558062366571852438, 0.0005898350917602088738, -0.00023822118100032001893,
                  0.000093982580716453300643, -0.000032984959154741356583,
                  7.4590879934343985609e-6);
  }
  const T inner = x + x * (s * p);
  return select(small, inner, select(x < T(0), -outer, outer));
}

// x / (1 + e^-v). With e = e^-|v| and, for negative v, e in the numerator: nothing overflows, and a
// tiny result keeps its relative accuracy.
template <class T>
[[gnu::always_inline]] inline T times_sigmoid(T x, T v) {
  const T z = at_least(-kExpLimit<T>, -absolute(v));
  x = at_least(-kExpLimit<T>, x);  // so that minus infinity gives the limit, zero
  const ExpParts<T> e = exp_parts<T>(z, T(0));
  const T denominator = T(1) + e.value * e.scale1 * e.scale2;
  const bool negative = v < T(0);
  const T value = select(negative, e.value, T(1));
  const T scale1 = select(negative, e.scale1, T(1));
  const T scale2 = select(negative, e.scale2 * kLift<T>, T(1));
  const T result = x * value / denominator * scale1 * scale2;
  return select(negative, lowered(result), result);
}

template <class T>
[[gnu::always_inline]] inline T logistic(T x) {
  return times_sigmoid<T>(T(1), x);
}

template <class T>
[[gnu::always_inline]] inline T sigmoid_linear(T x) {
  return times_sigmoid<T>(x, x);
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) = x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)).
template <class T>
[[gnu::always_inline]] inline T gelu_by_tanh(T x) {
  constexpr T kLinear = T(1.59576912160573071176);
  constexpr T kCubic = T(0.07135481627260025188);
  return times_sigmoid<T>(x, x * (kLinear + kCubic * (x * x)));
}

// x Phi(x), Phi the normal distribution's. With t = |x|, Phi(-t) = e^(-t^2/2) R(t), and R(t) (t +
// k) is a polynomial in q = (t - k) / (t + k). t^2 is formed in two parts: one rounding of it alone
// would cost 2^-18 in the far tail.
template <class T>
[[gnu::always_inline]] inline T gelu_by_erf(T x) {
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr T kLargest = kSingle ? T(14.6) : T(39);  // x Phi(x) rounds to zero from -kLargest on
  constexpr T kCentre = kSingle ? T(3) : T(5);
  constexpr auto kUpperHalf = static_cast<bits_of<T>>(~bits_of<T>(0) << (kSingle ? 12 : 27));
  const T t = at_most(kLargest, absolute(x));
  const T high = __builtin_bit_cast(T, __builtin_bit_cast(bits_of<T>, t) & kUpperHalf);
  const ExpParts<T> e = exp_parts<T>(T(-0.5) * high * high, T(-0.5) * ((t - high) * (t + high)));
  const T inverse = T(1) / (t + kCentre);
  const T q = (t - kCentre) * inverse;
  T p;
  if constexpr (kSingle) {
    p = horner<T>(q, 0.7290836904, -0.5093319914, 0.2300176998, -0.04726268767, -0.01046251856,
                  0.006969304305, 0.001024776689, -0.001032535834, -0.0002447484441,
                  0.0001312723268, 5.446323238e-5);
  } else {
    p = horner<T>(q, 0.7691930497500629595, -0.6653825028900568487, 0.4953056159699760719,
                  -0.3135331566712878, 0.1650203661704071134, -0.06911863870686637174,
                  0.0207950667992651243, -0.002993376762048653345, -0.0007978693894082542994,
                  0.0005448989942706117223, -0.00005937580613779931726, -0.0000497624637679609241,
                  0.00001668163215148862032, 3.979828472760640794e-6, -2.770692968881781439e-6,
                  -3.346183677229166151e-7, 4.362300025809671811e-7, 4.022470091524508345e-8,
                  -7.005597587992587153e-8, -8.573826210410918732e-9, 1.073143450340688747e-8,
                  2.211626573782665035e-9, -1.13943695535743026e-9, -3.734772214424540358e-10);
  }
  const T tail = e.value * (inverse * p);
  const T below = lowered(-t * tail * e.scale1 * (e.scale2 * kLift<T>));
  const T above = x * (T(1) - tail * e.scale1 * e.scale2);
  return select(x < T(0), below, above);
}

}  // namespace tilewise::inline TILEWISE_TARGET
