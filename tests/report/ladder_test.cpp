// The limits that stand beside the measured rungs.
#include "report/ladder.h"

#include <gtest/gtest.h>

#include "tilewise/problem.h"

namespace tilewise {
namespace {

constexpr int kSms = 132, kMhz = 1980;

std::optional<double> limit(const char* name, Type type = Type::f32) {
  return wavefront_limit(make_problem(4096, 4096, 4096, type), find_schedule(name).value(), kSms,
                         kMhz);
}

TEST(WavefrontLimit, IsThatOfTheReadsAndStoresOfAPhase) {
  // Multiply-adds of a warp's phase over its wavefronts, of 32 lanes on each SM.
  const double peak = 2.0 * 32 * kSms * kMhz * 1e-6;
  EXPECT_NEAR(limit("shared_tile").value(), peak * 32 / (64 + 2), 1e-9);
  EXPECT_NEAR(limit("column_tile").value(), peak * 64 / (72 + 2), 1e-9);
  EXPECT_NEAR(limit("square_tile").value(), peak * 512 / (320 + 16 + 4), 1e-9);
}

TEST(WavefrontLimit, LeavesOutTheWritesOfAsynchronousCopies) {
  const double peak = 2.0 * 32 * kSms * kMhz * 1e-6;
  EXPECT_NEAR(limit("warp_tile").value(), peak * 64 / 8, 1e-9);  // of a warp and k
}

TEST(WavefrontLimit, IsNoneWhereReadsAreMergedOrPassByItself) {
  EXPECT_FALSE(limit("shared_tile_merged").has_value());
  EXPECT_FALSE(limit("naive").has_value());
  EXPECT_FALSE(limit("wgmma_pipeline", Type::bf16).has_value());
  EXPECT_FALSE(limit("packed_avx2_f32").has_value());
}

TEST(WavefrontLimit, NeedsAnSmAndAClock) {
  const Problem p = make_problem(64, 64, 64);
  EXPECT_FALSE(wavefront_limit(p, find_schedule("column_tile").value(), 0, kMhz).has_value());
  EXPECT_FALSE(wavefront_limit(p, find_schedule("column_tile").value(), kSms, 0).has_value());
}

}  // namespace
}  // namespace tilewise
