#include "epilogue/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tilewise {
namespace {

// The value of a format with a sign, `exponent_bits` and `mantissa_bits`, by its definition.
double decode(unsigned x, int exponent_bits, int mantissa_bits, bool has_infinity) {
  const unsigned mantissa = x & ((1u << mantissa_bits) - 1);
  const unsigned exponent = (x >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const double sign = (x >> (mantissa_bits + exponent_bits)) & 1u ? -1 : 1;
  const unsigned all_ones = (1u << exponent_bits) - 1;
  const int bias = static_cast<int>(all_ones / 2);
  if (exponent == all_ones && has_infinity) {
    return mantissa == 0 ? sign * INFINITY : std::nan("");
  }
  if (exponent == all_ones && !has_infinity && mantissa == (1u << mantissa_bits) - 1) {
    return std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits),
                           static_cast<int>(exponent) - bias - mantissa_bits);
}

void expect_same(double expected, float got, unsigned bits) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << std::hex << bits;
  } else {
    EXPECT_EQ(expected, got) << std::hex << bits;
    EXPECT_EQ(std::signbit(expected), std::signbit(got)) << std::hex << bits;
  }
}

TEST(Element, EveryBitPatternIsDecoded) {
  for (unsigned x = 0; x < 0x10000u; ++x) {
    const auto bits = static_cast<std::uint16_t>(x);
    expect_same(decode(x, 8, 7, true), bf16_to_float(bits), x);
    expect_same(decode(x, 5, 10, true), f16_to_float(bits), x);
    EXPECT_EQ(std::signbit(f16_to_float(bits)), x >= 0x8000u);  // of NaN too
  }
  for (unsigned x = 0; x < 0x100u; ++x) {
    const auto bits = static_cast<std::uint8_t>(x);
    expect_same(decode(x, 4, 3, false), f8e4m3_to_float(bits), x);
    expect_same(decode(x, 5, 2, true), f8e5m2_to_float(bits), x);
  }
}

TEST(Element, EveryBitPatternRoundTrips) {
  for (unsigned x = 0; x < 0x10000u; ++x) {
    const auto bits = static_cast<std::uint16_t>(x);
    if (std::isnan(bf16_to_float(bits))) {
      EXPECT_EQ(float_to_bf16(bf16_to_float(bits)), x | 0x40u);
    } else {
      EXPECT_EQ(float_to_bf16(bf16_to_float(bits)), x);
    }
    if (std::isnan(f16_to_float(bits))) {
      EXPECT_EQ(float_to_f16(f16_to_float(bits)), x | 0x200u);
    } else {
      EXPECT_EQ(float_to_f16(f16_to_float(bits)), x);
    }
  }
  for (unsigned x = 0; x < 0x100u; ++x) {
    const auto bits = static_cast<std::uint8_t>(x);
    EXPECT_EQ(float_to_f8e4m3(f8e4m3_to_float(bits)), x);
    const float wide = f8e5m2_to_float(bits);
    if (std::isnan(wide))
      EXPECT_EQ(float_to_f8e5m2(wide) & 0x7fu, 0x7fu);
    else if (std::isinf(wide))
      EXPECT_EQ(float_to_f8e5m2(wide) & 0x7fu, 0x7bu);  // saturated
    else
      EXPECT_EQ(float_to_f8e5m2(wide), x);
  }
}

// Every pair of neighbours: what lies between them goes to the nearer, the middle to the even one.
// `decoded` maps bits to values; magnitudes up to `largest` are finite.
template <class Encode, class Decode>
void check_rounding(unsigned largest, Encode encode, Decode decoded) {
  for (unsigned x = 0; x < largest; ++x) {
    const double low = decoded(x), high = decoded(x + 1), middle = (low + high) / 2;
    const double infinity = std::numeric_limits<double>::infinity();
    for (double sign : {1.0, -1.0}) {
      const unsigned sign_bit = sign < 0 ? encode(-0.0) : 0u;
      const unsigned even = (x & 1u) == 0 ? x : x + 1;
      EXPECT_EQ(encode(sign * middle), even | sign_bit) << x;
      EXPECT_EQ(encode(sign * std::nextafter(middle, -infinity)), x | sign_bit) << x;
      EXPECT_EQ(encode(sign * std::nextafter(middle, infinity)), (x + 1) | sign_bit) << x;
    }
  }
}

template <class T>
unsigned stored(Type type, T x) {
  // Bytes, since an element may not be written into an object of another type (GCC at -O3 drops
  // it).
  alignas(8) unsigned char bytes[8] = {};
  store_elements<T>(type, bytes, 0, 1, 1, &x);
  std::uint32_t result = 0;  // little-endian machines only
  std::memcpy(&result, bytes, sizeof result);
  return result;
}

// nextafter in double lies far closer to the middle than a float can, so float inputs are checked
// with float neighbours.
template <class Decode>
void check_rounding_of_floats(Type type, unsigned largest, Decode decoded) {
  for (unsigned x = 0; x < largest; ++x) {
    const double exact = (static_cast<double>(decoded(x)) + decoded(x + 1)) / 2;
    const auto middle = static_cast<float>(exact);
    ASSERT_EQ(middle, exact);
    const unsigned even = (x & 1u) == 0 ? x : x + 1;
    EXPECT_EQ(stored(type, middle), even);
    EXPECT_EQ(stored(type, std::nextafter(middle, -INFINITY)), x);
    EXPECT_EQ(stored(type, std::nextafter(middle, INFINITY)), x + 1);
  }
}

TEST(Element, RoundsToNearestEvenBetweenAllNeighbours) {
  const auto bf16 = [](unsigned x) { return bf16_to_float(static_cast<std::uint16_t>(x)); };
  const auto f16 = [](unsigned x) { return f16_to_float(static_cast<std::uint16_t>(x)); };
  const auto e4m3 = [](unsigned x) { return f8e4m3_to_float(static_cast<std::uint8_t>(x)); };
  const auto e5m2 = [](unsigned x) { return f8e5m2_to_float(static_cast<std::uint8_t>(x)); };
  check_rounding_of_floats(Type::bf16, 0x7f7fu, bf16);
  check_rounding_of_floats(Type::f16, 0x7bffu, f16);
  check_rounding_of_floats(Type::f8e4m3, 0x7eu, e4m3);
  check_rounding_of_floats(Type::f8e5m2, 0x7bu, e5m2);
  const auto encode = [](Type type) { return [type](double x) { return stored(type, x); }; };
  check_rounding(0x7f7fu, encode(Type::bf16), bf16);
  check_rounding(0x7bffu, encode(Type::f16), f16);
  check_rounding(0x7eu, encode(Type::f8e4m3), e4m3);
  check_rounding(0x7bu, encode(Type::f8e5m2), e5m2);
}

TEST(Element, TooLargeIsInfinityOrSaturates) {
  EXPECT_EQ(float_to_f16(65519.99f), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(stored(Type::bf16, std::numeric_limits<double>::max()), 0x7f80u);
  EXPECT_EQ(stored(Type::f16, -1e300), 0xfc00u);
  EXPECT_EQ(stored(Type::f16, 1e-300), 0u);
  EXPECT_EQ(float_to_f8e4m3(INFINITY), 0x7e);
  EXPECT_EQ(float_to_f8e4m3(-1e30f), 0xfe);
  EXPECT_EQ(float_to_f8e5m2(INFINITY), 0x7b);
  EXPECT_EQ(float_to_f8e4m3(NAN) & 0x7f, 0x7f);
}

TEST(Element, LoadsAndStoresAnyStride) {
  const std::vector<std::uint16_t> data{0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0};
  std::vector<float> out(2, -1.f);
  load_elements<float>(Type::bf16, data.data(), 1, 2, 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{2.f, 4.f}));
  load_elements<float>(Type::bf16, data.data(), 4, 0, 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{5.f, 5.f}));
  load_elements<float>(Type::bf16, data.data(), 4, -3, 2, out.data());
  EXPECT_EQ(out, (std::vector<float>{5.f, 2.f}));
  std::vector<double> stored_out(4, 0.0);
  store_elements<float>(Type::f64, stored_out.data(), 1, 2, 2, out.data());
  EXPECT_EQ(stored_out, (std::vector<double>{0, 5, 0, 2}));
}

}  // namespace
}  // namespace tilewise
