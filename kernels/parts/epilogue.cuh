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

// A hint to bring rows x columns elements, the first at `offset`, into the L2: each of `threads`
// asks for some of their lines.
template <class Stored>
__device__ inline void prefetch_rows(const MatrixArgument& operand, int64 offset, int rows,
                                     int columns, int thread, int threads) {
  constexpr int kLine = 128 / static_cast<int>(sizeof(Stored));
  const int lines = (columns + kLine - 1) / kLine;
  const Stored* first = static_cast<const Stored*>(operand.data) + offset;
  for (int i = thread; i < rows * lines; i += threads) {
    prefetch_l2(first + i / lines * operand.row + i % lines * kLine);
  }
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

// ---- For results that are stored in 16 bits or fewer: within 2^-14 of the exact value, or 2^-120
// where that is more. Rounding to bf16 is 2^-8 of the value at most, to f16 2^-11.

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

// x Phi(x) = max(x, 0) - t Phi(-t) with t = |x|, and log2 Phi(-t) is close to a polynomial: its
// error is at most 2^-14.8 / ln 2 up to kLargest, where Phi(-t) rounds to zero.
__device__ inline float gelu_erf(float x) {
  constexpr float kLargest = 14.0f;
  const float t = fminf(fabsf(x), kLargest);
  float p = -1.5976092671010633e-09f;
  p = __fmaf_rn(p, t, 1.215888687511324e-07f);
  p = __fmaf_rn(p, t, -4.0547097341914196e-06f);
  p = __fmaf_rn(p, t, 7.834848656784743e-05f);
  p = __fmaf_rn(p, t, -0.0009811297059059143f);
  p = __fmaf_rn(p, t, 0.00849186535924673f);
  p = __fmaf_rn(p, t, -0.0535251647233963f);
  p = __fmaf_rn(p, t, -0.45932358503341675f);
  p = __fmaf_rn(p, t, -1.1507285833358765f);
  p = __fmaf_rn(p, t, -1.0000488758087158f);
  return __fmaf_rn(-t, ex2_approx_ftz(p), max_nan(x, 0.0f));
}

__device__ inline double sigmoid(double x) { return epilogue::sigmoid(x); }
__device__ inline double silu(double x) { return epilogue::silu(x); }
__device__ inline double gelu_tanh(double x) { return epilogue::gelu_tanh(x); }
__device__ inline double gelu_erf(double x) { return epilogue::gelu_erf(x); }

}  // namespace narrow

}  // namespace tilewise::epilogue
