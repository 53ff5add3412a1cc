#include <gtest/gtest.h>

#include <random>

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

TEST(SimulateBarriers, WithoutTheFirstWarpZeroReadsMissingAndStaleRows) {
  const BarrierReport report = run(MissingBarrier::after_load);
  EXPECT_GT(report.max_error, 0.1);
  // Only the first row of threads runs ahead: rows 0, 8 and 16 of the output are wrong.
  EXPECT_EQ(report.wrong_elements, 3 * 21);
  for (std::size_t i = 0; i < report.d.size(); ++i) {
    if (i / 21 % 8 != 0) {
      EXPECT_EQ(report.d[i], report.expected[i]);
    }
  }
  EXPECT_EQ(report.first_fault, "D[0,0] needs B at k = 1, but shared memory was not filled yet");
}

TEST(SimulateBarriers, WithoutTheSecondTheOthersReadOverwrittenRows) {
  const BarrierReport report = run(MissingBarrier::after_use);
  EXPECT_GT(report.max_error, 0.1);
  for (std::size_t i = 0; i < report.d.size(); ++i) {
    if (i / 21 % 8 == 0) {
      EXPECT_EQ(report.d[i], report.expected[i]);
    } else {
      EXPECT_NE(report.d[i], report.expected[i]);
    }
  }
  EXPECT_EQ(report.first_fault,
            "D[1,0] needs B at k = 0, but shared memory was overwritten with k = 8");
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
  EXPECT_EQ(wrong->wrong_elements, (3 + 3 + 3) * 21) << "three rows of each block";
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
