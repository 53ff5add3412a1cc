#include "tilewise/mma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tilewise {
namespace {

// Small integers: every sum is exact in float32.
std::vector<double> integers(std::int64_t count, int step) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>((i * static_cast<std::size_t>(step)) % 15) - 7;
  }
  return values;
}

std::vector<double> reference(std::int64_t m, std::int64_t n, std::int64_t k,
                              const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> d(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l)
        d[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
  return d;
}

struct Case {
  std::int64_t m, n, k;
  MmaShape shape;
};

class MmaSimulations : public ::testing::TestWithParam<Case> {};

TEST_P(MmaSimulations, GiveTheProductAndTheCount) {
  const auto& [m, n, k, shape] = GetParam();
  const auto a = integers(m * k, 7), b = integers(k * n, 11);
  auto simulated = simulate_mma(m, n, k, a, b, shape);
  ASSERT_TRUE(simulated.has_value()) << simulated.error().message;
  EXPECT_EQ(simulated->d, reference(m, n, k, a, b));
  auto counted = mma_count(m, n, k, shape);
  EXPECT_EQ(Count(simulated->instructions), counted->instructions);
  EXPECT_EQ(simulated->products_useful, static_cast<std::uint64_t>(m * n * k));
  if (simulated->products_formed != 0) {
    EXPECT_NEAR(static_cast<double>(simulated->products_useful) /
                    static_cast<double>(simulated->products_formed),
                counted->utilization, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MmaSimulations,
                         ::testing::Values(Case{16, 8, 16, {}}, Case{17, 17, 17, {}},
                                           Case{1, 1, 1, {}}, Case{33, 9, 47, {16, 8, 8}},
                                           Case{15, 23, 65, {16, 8, 32}},
                                           Case{65, 41, 33, {64, 40, 16}},
                                           Case{130, 24, 40, {64, 24, 32}},
                                           Case{20, 30, 10, {4, 7, 3}}, Case{0, 8, 16, {}},
                                           Case{16, 8, 0, {}}, Case{64, 0, 16, {}}));

TEST(MmaSimulations, RefuseOtherSizes) {
  const std::vector<double> a(10), b(10);
  EXPECT_THAT(simulate_mma(4, 4, 4, a, b).error().message, ::testing::HasSubstr("10 elements"));
  EXPECT_THAT(simulate_mma(4096, 4096, 4096, a, b).error().message, ::testing::HasSubstr("2^32"));
}

}  // namespace
}  // namespace tilewise
