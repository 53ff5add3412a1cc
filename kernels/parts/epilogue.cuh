// The functions of the epilogue language, and loads of its operands, for the code that
// src/epilogue/device_code.cpp prints. The error bounds (docs/epilogue.md) hold without fast-math
// options and are tested on a device over every float.
#pragma once

#include "parts/arguments.cuh"
#include "parts/element.cuh"
#include "parts/ptx.cuh"

namespace tilewise::epilogue {

// ---- Operands. offset in elements from element (0, 0) of batch 0

template <class T, class Stored>
__device__ inline T load(const MatrixArgument& operand, int64 offset) {
  const Stored value = static_cast<const Stored*>(operand.data)[offset];
  if constexpr (sizeof(Stored) >= sizeof(float)) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(to_float(value));
  }
}

// Two neighbours of a row as they are stored, read at once.
template <class Stored>
struct alignas(2 * sizeof(Stored)) Two {
  Stored value[2];

  __device__ float first() const { return load_value(value[0]); }
  __device__ float second() const { return load_value(value[1]); }

 private:
  static __device__ float load_value(Stored x) {
    if constexpr (sizeof(Stored) >= sizeof(float)) {
      return static_cast<float>(x);
    } else {
      return to_float(x);
    }
  }
};
template <>
struct alignas(4) Two<bf16> {
  unsigned bits;

  __device__ float first() const { return __uint_as_float(bits << 16); }
  __device__ float second() const { return __uint_as_float(bits & 0xffff0000u); }
};

template <class Stored>
__device__ inline Two<Stored> load_two(const MatrixArgument& operand, int64 offset) {
  return *reinterpret_cast<const Two<Stored>*>(static_cast<const Stored*>(operand.data) + offset);
}

// Whether elements 2 i and 2 i + 1 of every row lie together, at an address that Two may have.
template <class Stored>
__device__ inline bool in_twos(const MatrixArgument& operand) {
  const auto base = reinterpret_cast<unsigned long long>(operand.data);
  return operand.column == 1 && (operand.row | operand.batch) % 2 == 0 &&
         base % sizeof(Two<Stored>) == 0;
}

template <class Stored>
__device__ inline Two<Stored> two_from_bits(unsigned bits) {
  static_assert(sizeof(Stored) == 2);
  if constexpr (kSame<Stored, bf16>) {
    return {bits};
  } else {
    return {{{static_cast<unsigned short>(bits)}, {static_cast<unsigned short>(bits >> 16)}}};
  }
}

// Whether a bulk copy can bring the operand: every row is contiguous, starts on a multiple of 16
// bytes, and lies behind the one before it. The host asks the same (src/gpu/tensor_maps.cpp).
template <class Stored>
__device__ inline bool in_chunks(const MatrixArgument& operand, int64 columns) {
  const int64 bytes = (operand.row | operand.batch) * static_cast<int64>(sizeof(Stored)) |
                      static_cast<int64>(reinterpret_cast<unsigned long long>(operand.data));
  const bool apart = operand.row >= columns && operand.batch >= 0;
  return operand.column == 1 && apart && bytes % 16 == 0;
}

// ---- Selection: NaN on either side gives NaN

template <class T>
__device__ inline T minimum(T x, T y) {
  return x != x ? x : (x < y ? x : y);
}
template <class T>
__device__ inline T maximum(T x, T y) {
  return x != x ? x : (x > y ? x : y);
}
template <class T>
__device__ inline T relu(T x) {
  return x < T(0) ? T(0) : x;
}
__device__ inline float absolute(float x) { return fabsf(x); }
__device__ inline double absolute(double x) { return fabs(x); }

// ---- Exponentials

__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
__device__ inline float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ inline double hyperbolic_tangent(double x) { return tanh(x); }

// 1 <= denominator <= 2^126: the range in which the approximate division is within 2 ulp.
__device__ inline float divide(float x, float denominator) { return __fdividef(x, denominator); }
__device__ inline double divide(double x, double denominator) { return x / denominator; }

// x / (1 + e^-v), with e^-|v| in the numerator where v is negative: nothing overflows, and a small
// result keeps its relative accuracy. Minus infinity gives the limit, zero.
template <class T>
__device__ inline T times_sigmoid(T x, T v) {
  constexpr T kLimit =
      sizeof(T) == sizeof(float) ? T(110) : T(760);  // x e^-x is zero from there on
  const T e = exponential(-absolute(v));
  x = x < -kLimit ? -kLimit : x;
  return divide(v < T(0) ? x * e : x, T(1) + e);
}
template <class T>
__device__ inline T sigmoid(T x) {
  return times_sigmoid(T(1), x);
}
template <class T>
__device__ inline T silu(T x) {
  return times_sigmoid(x, x);
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) = x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)).
template <class T>
__device__ inline T gelu_tanh(T x) {
  constexpr T kLinear = T(1.59576912160573071176), kCubic = T(0.07135481627260025188);
  return times_sigmoid(x, x * (kLinear + kCubic * (x * x)));
}

// ---- x Phi(x), Phi the normal distribution's

// With t = |x|: Phi(-t) = e^(-t^2/2) R(t), and R(t) (t + 3) is a polynomial in q = (t - 3) / (t +
// 3) (the one of src/epilogue/approximations.h). The exponent -t^2/2 log2(e) is carried in two
// parts: one rounding of it alone would cost 2^-17 in the far tail.
__device__ inline float gelu_erf(float x) {
  constexpr float kLargest = 14.6f;  // x Phi(x) rounds to zero from -kLargest on
  constexpr float kScale = -0.72134752044448170368f;
  constexpr float kScaleLow = -9.62981494545545e-09f;
  constexpr float kLn2 = 0.69314718055994530942f;
  const float t = fminf(fabsf(x), kLargest);
  const float square = t * t;
  const float square_low = __fmaf_rn(t, t, -square);
  const float exponent = square * kScale;
  const float exponent_low = __fmaf_rn(
      square, kScaleLow, __fmaf_rn(square_low, kScale, __fmaf_rn(square, kScale, -exponent)));
  const float inverse = divide(1.0f, t + 3.0f);
  const float q = (t - 3.0f) * inverse;
  float p = 5.446323238e-5f;
  p = __fmaf_rn(p, q, 0.0001312723268f);
  p = __fmaf_rn(p, q, -0.0002447484441f);
  p = __fmaf_rn(p, q, -0.001032535834f);
  p = __fmaf_rn(p, q, 0.001024776689f);
  p = __fmaf_rn(p, q, 0.006969304305f);
  p = __fmaf_rn(p, q, -0.01046251856f);
  p = __fmaf_rn(p, q, -0.04726268767f);
  p = __fmaf_rn(p, q, 0.2300176998f);
  p = __fmaf_rn(p, q, -0.5093319914f);
  p = __fmaf_rn(p, q, 0.7290836904f);
  const float ratio = inverse * p;
  const float tail = exp2f(exponent) * __fmaf_rn(ratio * kLn2, exponent_low, ratio);
  return x < 0.0f ? -t * tail : __fmaf_rn(-t, tail, x);  // -t, not -x: infinity times zero
}
__device__ inline double gelu_erf(double x) {
  constexpr double kLargest = 39;
  return (x < -kLargest ? -kLargest : x) * normcdf(x);
}

// ---- For results that are stored in 16 bits or fewer: within 2^-14 of the exact value, or where
// that is more within 2^-52 (gelu) or 2^-119 (the others). Rounding to f16 is up to 2^-12 of the
// value, to bf16 2^-9.

namespace narrow {

using epilogue::exponential;
using epilogue::hyperbolic_tangent;

constexpr float kLog2E = 1.44269504088896340736f;

// x / (1 + e^-v); x is finite or v positive.
__device__ inline float times_sigmoid(float x, float v) {
  return x * rcp_approx_ftz(1.0f + ex2_approx_ftz(-kLog2E * v));
}
__device__ inline float sigmoid(float x) { return times_sigmoid(1.0f, x); }
__device__ inline float silu(float x) {
  constexpr float kSmallest = -110.0f;  // x e^x is zero up to there
  x = max_nan(x, kSmallest);
  return times_sigmoid(x, x);
}
__device__ inline float gelu_tanh(float x) {
  constexpr float kSmallest = -14.0f;
  constexpr float kLinear = 1.59576912160573071176f, kCubic = 0.07135481627260025188f;
  x = max_nan(x, kSmallest);
  return times_sigmoid(x, x * __fmaf_rn(kCubic, x * x, kLinear));
}

// x Phi(x) = max(x, 0) - t Phi(-t) with t = |x|, and log2 Phi(-t) is close to a polynomial p.
__device__ inline float gelu_of_tail(float x, float t, float p) {
  return __fmaf_rn(-t, ex2_approx_ftz(p), max_nan(x, 0.0f));
}

// The polynomial's error is at most 2^-14.5 / ln 2 up to t = 8.4, where the result is 2^-52.
// Beyond, it falls ever faster, to a Phi(-t) that rounds to zero.
__device__ inline float gelu_erf(float x) {
  constexpr float kLargest = 40.0f;  // keeps infinity from being multiplied by zero
  const float t = fminf(fabsf(x), kLargest);
  float p = -1.142259975495108e-06f;
  p = __fmaf_rn(p, t, 4.501371950027533e-05f);
  p = __fmaf_rn(p, t, -0.0007741879089735448f);
  p = __fmaf_rn(p, t, 0.007775747217237949f);
  p = __fmaf_rn(p, t, -0.052195899188518524f);
  p = __fmaf_rn(p, t, -0.4604977071285248f);
  p = __fmaf_rn(p, t, -1.1503617763519287f);
  p = __fmaf_rn(p, t, -1.0000616312026978f);
  return gelu_of_tail(x, t, p);
}

// For results with 8 bits of precision or fewer: within 2^-12.5 of the exact value, or 2^-30.
__device__ inline float gelu_erf_short(float x) {
  constexpr float kLargest = 40.0f;
  const float t = fminf(fabsf(x), kLargest);
  float p = -0.00027927407063543797f;
  p = __fmaf_rn(p, t, 0.005400329362601042f);
  p = __fmaf_rn(p, t, -0.04671034961938858f);
  p = __fmaf_rn(p, t, -0.4663124680519104f);
  p = __fmaf_rn(p, t, -1.1480984687805176f);
  p = __fmaf_rn(p, t, -1.000203251838684f);
  return gelu_of_tail(x, t, p);
}

__device__ inline double sigmoid(double x) { return epilogue::sigmoid(x); }
__device__ inline double silu(double x) { return epilogue::silu(x); }
__device__ inline double gelu_tanh(double x) { return epilogue::gelu_tanh(x); }
__device__ inline double gelu_erf(double x) { return epilogue::gelu_erf(x); }
__device__ inline double gelu_erf_short(double x) { return epilogue::gelu_erf(x); }

}  // namespace narrow

}  // namespace tilewise::epilogue
