// Conversions between the storage types and float: bit arithmetic and selects only, so that
// compilers vectorise a loop over them. Rounding is to nearest, ties to even; NaN stays NaN and
// keeps its sign. Every bit pattern is tested (tests/epilogue/element_test.cpp).
#pragma once

#include <cstdint>

#include "epilogue/target.h"
#include "tilewise/types.h"

namespace tilewise::inline TILEWISE_TARGET {

[[gnu::always_inline]] inline std::uint32_t float_bits(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
[[gnu::always_inline]] inline float float_from_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

[[gnu::always_inline]] inline float bf16_to_float(std::uint16_t x) {
  return float_from_bits(static_cast<std::uint32_t>(x) << 16);
}

[[gnu::always_inline]] inline std::uint16_t float_to_bf16(float x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const std::uint32_t nan = bits | 0x00400000u;  // quiet: the payload that is left could be zero
  return static_cast<std::uint16_t>(((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded) >> 16);
}

// Subnormals are read and made by adding a power of two whose unit in the last place is theirs.
[[gnu::always_inline]] inline float f16_to_float(std::uint16_t x) {
  const std::uint32_t magnitude = x & 0x7fffu;
  const std::uint32_t sign = static_cast<std::uint32_t>(x & 0x8000u) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  const std::uint32_t special = (magnitude << 13) | 0x7f800000u;  // infinity and NaN
  const std::uint32_t subnormal =
      float_bits(float_from_bits(magnitude | 0x3f000000u) - 0.5f);  // 0.5 has ulp 2^-24
  std::uint32_t bits = magnitude >= 0x7c00u ? special : normal;
  bits = magnitude < 0x0400u ? subnormal : bits;
  return float_from_bits(bits | sign);
}

[[gnu::always_inline]] inline std::uint16_t float_to_f16(float x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;  // 2^-14
  result = magnitude >= 0x47800000u ? 0x7c00u : result;                 // 2^16 and more
  result = magnitude > 0x7f800000u ? nan : result;
  return static_cast<std::uint16_t>(result | sign);
}

// e5m2 is the upper byte of an f16.
[[gnu::always_inline]] inline float f8e5m2_to_float(std::uint8_t x) {
  return f16_to_float(static_cast<std::uint16_t>(x << 8));
}

// e4m3 has no infinity: magnitudes to 448, and NaN at 0x7f.
[[gnu::always_inline]] inline float f8e4m3_to_float(std::uint8_t x) {
  const std::uint32_t magnitude = x & 0x7fu;
  const std::uint32_t sign = static_cast<std::uint32_t>(x & 0x80u) << 24;
  const std::uint32_t normal = (magnitude << 20) + (120u << 23);
  const std::uint32_t subnormal =
      float_bits(float_from_bits(magnitude | 0x46800000u) - 16384.0f);  // 2^14 has ulp 2^-9
  std::uint32_t bits = magnitude == 0x7fu ? 0x7fc00000u : normal;
  bits = magnitude < 8u ? subnormal : bits;
  return float_from_bits(bits | sign);
}

// To FP8: what is too large, infinity included, becomes the largest finite value (as the GPU's
// saturating conversion does).
[[gnu::always_inline]] inline std::uint8_t float_to_f8e4m3(float x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal =
      (magnitude + 0x7ffffu + ((magnitude >> 20) & 1u) - (120u << 23)) >> 20;
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude) + 16384.0f) - 0x46800000u;
  std::uint32_t result = magnitude < 0x3c800000u ? subnormal : normal;   // 2^-6
  result = magnitude >= 0x43e00000u || result > 0x7eu ? 0x7eu : result;  // 448 and more
  result = magnitude > 0x7f800000u ? 0x7fu : result;
  return static_cast<std::uint8_t>(result | ((bits >> 24) & 0x80u));
}

[[gnu::always_inline]] inline std::uint8_t float_to_f8e5m2(float x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal =
      (magnitude + 0xfffffu + ((magnitude >> 21) & 1u) - (112u << 23)) >> 21;
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude) + 128.0f) - 0x43000000u;
  std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;   // 2^-14
  result = magnitude >= 0x47600000u || result > 0x7bu ? 0x7bu : result;  // 57344 and more
  result = magnitude > 0x7f800000u ? 0x7fu : result;
  return static_cast<std::uint8_t>(result | ((bits >> 24) & 0x80u));
}

// To float so that a second rounding, to any narrower format, is the same as one from double: an
// inexact result is moved to its odd neighbour.
[[gnu::always_inline]] inline float double_to_odd_float(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const std::uint32_t bits = float_bits(nearest);
  const bool inexact = back != x && x == x;
  const bool too_far = (back > x) == (x > 0);  // rounded away from zero
  const std::uint32_t toward_zero = bits - (too_far ? 1u : 0u);
  return float_from_bits(inexact ? toward_zero | 1u : bits);
}

// Reads `count` elements starting at `first`, `stride` elements apart (0: one value for all).
template <class T>
[[gnu::always_inline]] inline void load_elements(Type type, const void* data, std::int64_t first,
                                                 std::int64_t stride, int count,
                                                 T* __restrict out) {
  const auto read = [&](const auto* p, auto convert) {
    p += first;
    if (stride == 1) {
      for (int i = 0; i < count; ++i) out[i] = static_cast<T>(convert(p[i]));
    } else if (stride == 0) {
      const T value = count > 0 ? static_cast<T>(convert(*p)) : T(0);
      for (int i = 0; i < count; ++i) out[i] = value;
    } else {
      for (int i = 0; i < count; ++i) out[i] = static_cast<T>(convert(p[i * stride]));
    }
  };
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  switch (type) {
    case Type::f64:
      return read(static_cast<const double*>(data), [](double x) { return x; });
    case Type::f32:
      return read(static_cast<const float*>(data), [](float x) { return x; });
    case Type::bf16:
      return read(static_cast<const u16*>(data), [](u16 x) { return bf16_to_float(x); });
    case Type::f16:
      return read(static_cast<const u16*>(data), [](u16 x) { return f16_to_float(x); });
    case Type::f8e4m3:
      return read(static_cast<const u8*>(data), [](u8 x) { return f8e4m3_to_float(x); });
    case Type::f8e5m2:
      return read(static_cast<const u8*>(data), [](u8 x) { return f8e5m2_to_float(x); });
  }
}

// Writes `count` elements starting at `first`, `stride` elements apart, rounding once.
template <class T>
[[gnu::always_inline]] inline void store_elements(Type type, void* data, std::int64_t first,
                                                  std::int64_t stride, int count,
                                                  const T* __restrict in) {
  const auto write = [&](auto* p, auto convert) {
    p += first;
    if (stride == 1) {
      for (int i = 0; i < count; ++i) p[i] = convert(in[i]);
    } else {
      for (int i = 0; i < count; ++i) p[i * stride] = convert(in[i]);
    }
  };
  const auto narrow = [](T x) {
    if constexpr (sizeof(T) == sizeof(double)) {
      return double_to_odd_float(x);
    } else {
      return x;
    }
  };
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  switch (type) {
    case Type::f64:
      return write(static_cast<double*>(data), [](T x) { return static_cast<double>(x); });
    case Type::f32:
      return write(static_cast<float*>(data), [](T x) { return static_cast<float>(x); });
    case Type::bf16:
      return write(static_cast<u16*>(data), [&](T x) { return float_to_bf16(narrow(x)); });
    case Type::f16:
      return write(static_cast<u16*>(data), [&](T x) { return float_to_f16(narrow(x)); });
    case Type::f8e4m3:
      return write(static_cast<u8*>(data), [&](T x) { return float_to_f8e4m3(narrow(x)); });
    case Type::f8e5m2:
      return write(static_cast<u8*>(data), [&](T x) { return float_to_f8e5m2(narrow(x)); });
  }
}

}  // namespace tilewise::inline TILEWISE_TARGET
