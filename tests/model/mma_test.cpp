#include "tilewise/mma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tilewise {
namespace {

using ::testing::HasSubstr;

TEST(MmaCount, PadsEachDimension) {
  auto instructions = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return mma_count(m, n, k)->instructions;
  };
  EXPECT_EQ(instructions(16, 8, 16), Count(1));
  EXPECT_EQ(instructions(17, 8, 16), instructions(32, 8, 16));
  EXPECT_EQ(instructions(16, 8, 17), instructions(16, 8, 32));
  EXPECT_EQ(instructions(16, 17, 16), instructions(16, 24, 16));
  EXPECT_NE(instructions(16, 17, 16), instructions(16, 25, 16));
  EXPECT_EQ(mma_count(17, 17, 17)->padded_n, Count(24));
  EXPECT_EQ(mma_count(17, 17, 17)->padded_k, Count(32));
}

TEST(MmaCount, Utilization) {
  EXPECT_EQ(mma_count(4096, 4096, 4096)->utilization, 1.0);
  EXPECT_EQ(mma_count(4096, 4096, 4096)->instructions, Count(256LL * 512 * 256));
  EXPECT_EQ(mma_count(17, 17, 17)->utilization, 4913.0 / (32 * 24 * 32));
  EXPECT_EQ(mma_count(100, 100, 100)->utilization, 1e6 / (112.0 * 104 * 112));
  // 8192^3 of m64n256k16: the gmma counter of a public kernel shows 4 warps of these.
  EXPECT_EQ(mma_count(8192, 8192, 8192, {64, 256, 16})->instructions * Count(4), Count(8388608));
}

TEST(MmaCount, ZeroDimensions) {
  for (const auto& [m, n, k] : {std::tuple{0, 5, 5}, {5, 0, 5}, {5, 5, 0}}) {
    auto count = mma_count(m, n, k);
    EXPECT_EQ(count->instructions, Count(0));
    EXPECT_EQ(count->utilization, 0);
  }
}

TEST(MmaCount, LargeSizesAreExactOrRefused) {
  const std::int64_t huge = INT64_MAX;
  EXPECT_EQ(mma_count(huge, 1, 1)->instructions, ceil_div(huge, 16));
  EXPECT_THAT(mma_count(huge, huge, huge).error().message, HasSubstr("2^127"));
  EXPECT_THAT(mma_count(3, -2, 1).error().message, HasSubstr("n is -2"));
}

TEST(MmaShape, Parses) {
  EXPECT_EQ(*parse_mma_shape("16x8x16"), (MmaShape{16, 8, 16}));
  EXPECT_EQ(*parse_mma_shape("m64n256k16"), (MmaShape{64, 256, 16}));
  for (const char* text : {"", "16x8", "16x8x", "16x8x0", "m16n8k16x", "16x8x16x2", "ax8x16",
                           "-1x8x16", "m16x8x16", "16x8x99999999999"}) {
    EXPECT_FALSE(parse_mma_shape(text).has_value()) << text;
  }
  EXPECT_EQ(to_string(*parse_mma_shape("16x8x8")), "m16n8k8");
}

TEST(MmaLayout, EachThreadHoldsItsElementsOnce) {
  std::vector<MmaShape> shapes;
  for (const int k : {8, 16, 32}) {
    shapes.push_back({16, 8, k});
    for (int n = 8; n <= 256; n += 8) shapes.push_back({64, n, k});
  }
  for (const MmaShape shape : shapes) {
    auto layout = mma_layout(shape);
    ASSERT_TRUE(layout.has_value());
    EXPECT_THAT(layout->title, HasSubstr(to_string(shape)));
    for (const FragmentLayout& f : layout->fragments) {
      std::vector<int> seen(static_cast<std::size_t>(f.threads * f.elements_per_thread));
      ASSERT_EQ(f.holders.size(), seen.size());
      for (const FragmentHolder& h : f.holders) {
        ++seen[static_cast<std::size_t>(h.thread * f.elements_per_thread + h.element)];
      }
      EXPECT_THAT(seen, ::testing::Each(1));
    }
  }
}

TEST(MmaLayout, M16n8k16) {
  auto layout = mma_layout({});
  ASSERT_EQ(layout->fragments.size(), 3u);
  EXPECT_EQ(layout->fragments[0].elements_per_thread, 8);
  EXPECT_EQ(layout->fragments[1].elements_per_thread, 4);
  EXPECT_EQ(layout->fragments[2].elements_per_thread, 4);
  EXPECT_EQ(layout->fragments[0].at(9, 10), (FragmentHolder{5, 6}));
  EXPECT_EQ(layout->fragments[2].at(9, 4), (FragmentHolder{6, 2}));
}

TEST(MmaLayout, RefusesUnknownShapes) {
  EXPECT_THAT(mma_layout({16, 16, 16}).error().message, HasSubstr("m16n8k16 (bf16, f16)"));
  EXPECT_FALSE(mma_layout({64, 260, 16}).has_value());
}

}  // namespace
}  // namespace tilewise
