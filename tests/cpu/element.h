// Elements of any type by their values; written apart from the library's conversions, to check
// them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tilewise/types.h"

namespace tilewise::testing {

struct Format {
  int exponent_bits, fraction_bits;
};
inline constexpr Format kBf16{8, 7};
inline constexpr Format kF16{5, 10};

inline double decode(std::uint16_t bits, Format f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = bits >> f.fraction_bits & ((1 << f.exponent_bits) - 1);
  const double fraction = bits & ((1 << f.fraction_bits) - 1);
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  if (exponent == (1 << f.exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - f.fraction_bits);
  return sign * std::ldexp(fraction + (1 << f.fraction_bits), exponent - bias - f.fraction_bits);
}

// Rounds to nearest, ties to even, in exact double arithmetic. NaN gives a quiet NaN.
inline std::uint16_t encode(double value, Format f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000u : 0u);
  const int infinity = ((1 << f.exponent_bits) - 1) << f.fraction_bits;
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | 1 << (f.fraction_bits - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;
  const double units = std::nearbyint(std::ldexp(magnitude, f.fraction_bits - exponent));
  // units counts from 2^exponent in steps of the last place; a carry moves into the exponent.
  const auto code = static_cast<std::int64_t>(units) +
                    (static_cast<std::int64_t>(exponent + bias - 1) << f.fraction_bits);
  return static_cast<std::uint16_t>(sign | (code >= infinity ? infinity : code));
}

inline double read_element(Type type, const void* data, std::int64_t index) {
  const auto* at = static_cast<const std::byte*>(data) + index * size_bytes(type);
  std::uint16_t half = 0;
  float single = 0;
  double value = 0;
  switch (type) {
    case Type::f64:
      std::memcpy(&value, at, 8);
      return value;
    case Type::f32:
      std::memcpy(&single, at, 4);
      return single;
    case Type::bf16:
      std::memcpy(&half, at, 2);
      return decode(half, kBf16);
    case Type::f16:
      std::memcpy(&half, at, 2);
      return decode(half, kF16);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

inline void write_element(Type type, void* data, std::int64_t index, double value) {
  auto* at = static_cast<std::byte*>(data) + index * size_bytes(type);
  const auto single = static_cast<float>(value);
  std::uint16_t half = 0;
  switch (type) {
    case Type::f64:
      std::memcpy(at, &value, 8);
      break;
    case Type::f32:
      std::memcpy(at, &single, 4);
      break;
    case Type::bf16:
      half = encode(value, kBf16);
      std::memcpy(at, &half, 2);
      break;
    case Type::f16:
      half = encode(value, kF16);
      std::memcpy(at, &half, 2);
      break;
    default:
      break;
  }
}

}  // namespace tilewise::testing
