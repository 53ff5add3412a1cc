// Element types of a kernel by their storage, and conversions to and from float32. A kernel's
// template argument Element is float, double, bf16, f16, f8e4m3 or f8e5m2; without the toolkit's
// headers these are ours.
#pragma once

namespace tilewise {

struct alignas(2) bf16 {
  unsigned short bits;
};
struct alignas(2) f16 {
  unsigned short bits;
};
struct f8e4m3 {
  unsigned char bits;
};
struct f8e5m2 {
  unsigned char bits;
};

template <class X, class Y>
constexpr bool kSame = false;
template <class X>
constexpr bool kSame<X, X> = true;

template <bool kFirst, class X, class Y>
struct SelectOf {
  using Type = X;
};
template <class X, class Y>
struct SelectOf<false, X, Y> {
  using Type = Y;
};
template <bool kFirst, class X, class Y>
using Select = typename SelectOf<kFirst, X, Y>::Type;

// What the accumulator of a product of such elements is held in.
template <class Element>
struct AccumulatorOf {
  using Type = float;
};
template <>
struct AccumulatorOf<double> {
  using Type = double;
};

// What a kernel stores: Epilogue::Output where the epilogue names one, else the element type (bf16
// for 8-bit elements).
template <class Element, class Epilogue>
struct OutputOf {
  using Type = Element;
};
template <class Epilogue>
struct OutputOf<f8e4m3, Epilogue> {
  using Type = bf16;
};
template <class Epilogue>
struct OutputOf<f8e5m2, Epilogue> {
  using Type = bf16;
};
template <class Element, class Epilogue>
  requires requires { typename Epilogue::Output; }
struct OutputOf<Element, Epilogue> {
  using Type = typename Epilogue::Output;
};
template <class Epilogue>
  requires requires { typename Epilogue::Output; }
struct OutputOf<f8e4m3, Epilogue> {
  using Type = typename Epilogue::Output;
};
template <class Epilogue>
  requires requires { typename Epilogue::Output; }
struct OutputOf<f8e5m2, Epilogue> {
  using Type = typename Epilogue::Output;
};

#ifdef __CUDACC__

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bf16 x) { return __uint_as_float(unsigned{x.bits} << 16); }
__device__ inline float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ inline float to_float(f8e4m3 x) {
  unsigned pair;  // two f16
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(x.bits)));
  return to_float(f16{static_cast<unsigned short>(pair)});
}
__device__ inline float to_float(f8e5m2 x) {
  return to_float(f16{static_cast<unsigned short>(x.bits << 8)});
}

// Two values rounded to nearest even and packed, the first in the low half.
template <class T>
__device__ inline unsigned pack_pair(float low, float high);
template <>
__device__ inline unsigned pack_pair<bf16>(float low, float high) {
  unsigned y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
template <>
__device__ inline unsigned pack_pair<f16>(float low, float high) {
  unsigned y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}

// One value rounded to nearest even; the 8-bit formats saturate.
template <class T>
__device__ inline T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline double from_float<double>(float x) {
  return x;
}
template <>
__device__ inline bf16 from_float<bf16>(float x) {
  return bf16{static_cast<unsigned short>(pack_pair<bf16>(x, 0.0f))};
}
template <>
__device__ inline f16 from_float<f16>(float x) {
  return f16{static_cast<unsigned short>(pack_pair<f16>(x, 0.0f))};
}
template <>
__device__ inline f8e4m3 from_float<f8e4m3>(float x) {
  unsigned short y;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(0.0f), "f"(x));
  return f8e4m3{static_cast<unsigned char>(y)};
}
template <>
__device__ inline f8e5m2 from_float<f8e5m2>(float x) {
  unsigned short y;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(y) : "f"(0.0f), "f"(x));
  return f8e5m2{static_cast<unsigned char>(y)};
}

#endif  // __CUDACC__

}  // namespace tilewise
