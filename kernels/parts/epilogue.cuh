// The functions of the epilogue language, and loads of its operands, for the code that
// src/epilogue/device_code.cpp prints. The error bounds (docs/epilogue.md) hold without fast-math
// options and are tested on a device over every float.
#pragma once

#include "parts/arguments.cuh"
#include "parts/element.cuh"

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

}  // namespace tilewise::epilogue
