#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "tilewise/simulate.h"

namespace tilewise {
namespace {

std::vector<double> normal(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> distribution;
  std::vector<double> values(count);
  for (double& v : values) v = distribution(engine);
  return values;
}

BarrierReport run(MissingBarrier missing, std::int64_t m = 20, std::int64_t n = 21,
                  std::int64_t k = 19) {
  Schedule s;
  s.tiles = {{Level::block, 8, 8, 8, 1, 1}};
  const auto a = normal(static_cast<std::size_t>(m * k), 1);
  const auto b = normal(static_cast<std::size_t>(k * n), 2);
  const auto report = simulate_barriers(make_problem(m, n, k), s, a, b, missing);
  EXPECT_TRUE(report.has_value());
  return report.value_or(BarrierReport{});
}

TEST(SimulateBarriers, BothBarriersGiveTheProduct) {
  const BarrierReport report = run(MissingBarrier::none);
  EXPECT_EQ(report.wrong_elements, 0);
  EXPECT_TRUE(report.first_fault.empty());
  const auto a = normal(20 * 19, 1), b = normal(19 * 21, 2);
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 21; ++j) {
      double sum = 0;
      for (int k = 0; k < 19; ++k) sum += a[i * 19 + k] * b[k * 21 + j];
      EXPECT_NEAR(report.d[i * 21 + j], sum, 1e-12);
    }
  }
}

// The one warp that a phase leaves right is another one in the next phase.
TEST(SimulateBarriers, WithoutTheFirstEveryWarpReadsMissingOrStaleRows) {
  const BarrierReport report = run(MissingBarrier::after_load);
  EXPECT_GT(report.max_error, 0.1);
  EXPECT_EQ(report.wrong_elements, 20 * 21);
  EXPECT_EQ(report.first_fault, "D[0,0] needs B at k = 1, but shared memory was not filled yet");
}

// Warp 7 is first in phase 0, and loads row 7 of the next tile of B; warp 6 is the second.
TEST(SimulateBarriers, WithoutTheSecondEveryWarpReadsOverwrittenRows) {
  const BarrierReport report = run(MissingBarrier::after_use);
  EXPECT_GT(report.max_error, 0.1);
  EXPECT_EQ(report.wrong_elements, 20 * 21);
  EXPECT_EQ(report.first_fault,
            "D[6,0] needs B at k = 7, but shared memory was overwritten with k = 15");
}

// Two phases have one place where the next tile is loaded: warp 7, the first there, is right.
TEST(SimulateBarriers, OneTurnLeavesOneWarpRight) {
  for (const auto& [missing, k] :
       {std::pair{MissingBarrier::after_load, 8}, std::pair{MissingBarrier::after_use, 16}}) {
    const BarrierReport report = run(missing, 8, 8, k);
    EXPECT_EQ(report.wrong_elements, 7 * 8);
    for (std::size_t j = 56; j < 64; ++j) EXPECT_EQ(report.d[j], report.expected[j]);
  }
}

// Of 16 warps the first owns all 7 rows of D; the next seven load rows of B.
TEST(SimulateBarriers, AWarpWithoutOutputsRunsAheadToo) {
  Schedule s;
  s.tiles = {{Level::block, 128, 128, 8, 1, 1}, {Level::thread, 8, 8, 0, 1, 1}};
  const auto a = normal(7 * 99, 1), b = normal(99 * 128, 2);
  const auto wrong = [&](MissingBarrier missing, std::int64_t k) {
    return simulate_barriers(make_problem(7, 128, k), s, a, b, missing)->wrong_elements;
  };
  EXPECT_EQ(wrong(MissingBarrier::after_use, 99), 7 * 128);
  EXPECT_EQ(wrong(MissingBarrier::after_load, 99), 7 * 128);
  EXPECT_EQ(wrong(MissingBarrier::after_load, 2), 7 * 128) << "warp 1 loads row 1 of B";
  EXPECT_EQ(wrong(MissingBarrier::after_load, 1), 0) << "warp 0 loads the one row of B itself";
}

TEST(SimulateBarriers, AThreadTileGivesAWarpItsRows) {
  Schedule s;
  s.tiles = {{Level::block, 8, 8, 8, 1, 1}, {Level::thread, 3, 2, 0, 1, 1}};
  const auto a = normal(20 * 19, 1), b = normal(19 * 21, 2);
  const Problem p = make_problem(20, 21, 19);
  const auto right = simulate_barriers(p, s, a, b, MissingBarrier::none);
  ASSERT_TRUE(right.has_value()) << right.error().message;
  EXPECT_EQ(right->wrong_elements, 0);
  EXPECT_EQ(right->first_wrong, -1);
  EXPECT_EQ(right->d, run(MissingBarrier::none).d);
  const auto wrong = simulate_barriers(p, s, a, b, MissingBarrier::after_load);
  ASSERT_TRUE(wrong.has_value()) << wrong.error().message;
  EXPECT_EQ(wrong->wrong_elements, 20 * 21);
  EXPECT_EQ(wrong->first_wrong, 0);
}

TEST(SimulateBarriers, SeveralStagesHaveNoSecondBarrierToLeaveOut) {
  Schedule s;
  s.tiles = {{Level::block, 4, 4, 4, 1, 1}};
  s.stages = 2;
  const std::vector<double> x(16, 1.0);
  const auto report = simulate_barriers(make_problem(4, 4, 4), s, x, x, MissingBarrier::after_use);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("2 stages"), std::string::npos);
}

TEST(SimulateBarriers, OnePhaseNeedsNoSecondBarrier) {
  EXPECT_EQ(run(MissingBarrier::after_use, 8, 8, 8).wrong_elements, 0);
  EXPECT_GT(run(MissingBarrier::after_load, 8, 8, 8).wrong_elements, 0);
}

TEST(SimulateBarriers, NeedsABlockTile) {
  const std::vector<double> x(16, 1.0);
  const auto report =
      simulate_barriers(make_problem(4, 4, 4), Schedule{}, x, x, MissingBarrier::none);
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find("--tile 32"), std::string::npos);
}

}  // namespace
}  // namespace tilewise
