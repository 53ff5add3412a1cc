// The 16-bit formats over all their bit patterns, on every target that this CPU has.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "cpu/compiled_names.h"
#include "cpu/element.h"
#include "cpu/targets.h"

namespace tilewise::cpu {
namespace {

using tilewise::testing::compiled_names;
using tilewise::testing::decode;
using tilewise::testing::encode;
using tilewise::testing::Format;
using tilewise::testing::kBf16;
using tilewise::testing::kF16;

class ConversionsOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!is_supported(GetParam())) GTEST_SKIP() << "this CPU has no " << GetParam();
    conversions_ = (*choose_target(GetParam()))->conversions;
  }
  Conversions conversions_{};
};

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> bits(1 << 16);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  return bits;
}

void check_widening(void (*widen)(const std::uint16_t*, float*, std::int64_t), Format format) {
  const auto bits = all_patterns();
  std::vector<float> values(bits.size());
  widen(bits.data(), values.data(), static_cast<std::int64_t>(bits.size()));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double wanted = decode(bits[i], format);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(values[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]),
                std::bit_cast<std::uint32_t>(static_cast<float>(wanted)))
          << i;
    }
  }
}

// Floats on, just below and just above every value and every midpoint, and random bit patterns.
std::vector<float> interesting_floats(Format format) {
  std::vector<float> values;
  const auto add = [&](float value) {
    values.push_back(value);
    values.push_back(std::nextafterf(value, INFINITY));
    values.push_back(std::nextafterf(value, -INFINITY));
  };
  for (std::uint32_t i = 0; i < (1 << 16); ++i) {
    const double value = decode(static_cast<std::uint16_t>(i), format);
    const double next = decode(static_cast<std::uint16_t>(i + 1), format);
    add(static_cast<float>(value));
    if (std::isfinite(value) && std::isfinite(next)) add(static_cast<float>((value + next) / 2));
  }
  std::mt19937 generator(1);
  for (int i = 0; i < 500000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(generator())));
  return values;
}

void check_narrowing(void (*narrow)(const float*, std::uint16_t*, std::int64_t), Format format) {
  const auto values = interesting_floats(format);
  std::vector<std::uint16_t> bits(values.size());
  narrow(values.data(), bits.data(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(decode(bits[i], format))) << values[i];
    } else {
      ASSERT_EQ(bits[i], encode(values[i], format)) << values[i];
    }
  }
}

TEST_P(ConversionsOn, Bf16ToF32) { check_widening(conversions_.bf16_to_f32, kBf16); }
TEST_P(ConversionsOn, F16ToF32) { check_widening(conversions_.f16_to_f32, kF16); }
TEST_P(ConversionsOn, F32ToBf16RoundsToNearestEven) {
  check_narrowing(conversions_.f32_to_bf16, kBf16);
}
TEST_P(ConversionsOn, F32ToF16RoundsToNearestEven) {
  check_narrowing(conversions_.f32_to_f16, kF16);
}

TEST_P(ConversionsOn, TailsAreConvertedAndNothingAfterThem) {
  for (std::int64_t n = 0; n < 40; ++n) {
    std::vector<float> values(41, 1.5F);
    std::vector<std::uint16_t> bits(41, 0xaaaa);
    conversions_.f32_to_bf16(values.data(), bits.data(), n);
    for (std::int64_t i = 0; i < 41; ++i) {
      EXPECT_EQ(bits[static_cast<std::size_t>(i)], i < n ? 0x3fc0 : 0xaaaa);
    }
    bits.assign(41, 0xaaaa);
    conversions_.f32_to_f16(values.data(), bits.data(), n);
    for (std::int64_t i = 0; i < 41; ++i) {
      EXPECT_EQ(bits[static_cast<std::size_t>(i)], i < n ? 0x3e00 : 0xaaaa);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ConversionsOn, ::testing::ValuesIn(compiled_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tilewise::cpu
