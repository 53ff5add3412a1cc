#include "plan/check_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "plan/plan_cache.h"
#include "tilewise/plan.h"

namespace tilewise {
namespace {

std::vector<float> memory(1000);

Region region(std::int64_t offset, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
              std::int64_t column_stride = 1, std::int64_t batch = 1,
              std::int64_t batch_stride = 0) {
  return {memory.data() + offset, rows, columns, batch, row_stride * 4, column_stride * 4,
          batch_stride * 4,       4};
}

TEST(FindOverlap, ApartByAddress) {
  EXPECT_EQ(find_overlap(region(0, 4, 5, 5), region(20, 4, 5, 5)), Overlap::none);
  EXPECT_EQ(find_overlap(region(20, 4, 5, 5), region(0, 4, 5, 5)), Overlap::none);
}

TEST(FindOverlap, TheSameElements) {
  EXPECT_EQ(find_overlap(region(7, 4, 5, 6), region(7, 4, 5, 6)), Overlap::exact);
}

TEST(FindOverlap, OneElementShared) {
  EXPECT_EQ(find_overlap(region(0, 4, 5, 5), region(19, 4, 5, 5)), Overlap::partial);
  EXPECT_EQ(find_overlap(region(0, 4, 5, 6), region(0, 4, 5, 5)), Overlap::partial);
  EXPECT_EQ(find_overlap(region(0, 4, 5, 6), region(0, 4, 4, 6)), Overlap::partial);
}

TEST(FindOverlap, HalvesOfAWiderMatrixAreApart) {
  EXPECT_EQ(find_overlap(region(0, 8, 5, 10), region(5, 8, 5, 10)), Overlap::none);
  EXPECT_EQ(find_overlap(region(5, 8, 5, 10), region(0, 8, 5, 10)), Overlap::none);
  EXPECT_EQ(find_overlap(region(0, 8, 6, 10), region(5, 8, 5, 10)), Overlap::partial);
  EXPECT_EQ(find_overlap(region(0, 5, 8, 1, 10), region(5, 8, 5, 10)), Overlap::none);
  // Batches keep the pitch, or they do not.
  EXPECT_EQ(find_overlap(region(0, 3, 5, 10, 1, 3, 30), region(5, 3, 5, 10, 1, 3, 30)),
            Overlap::none);
  EXPECT_EQ(find_overlap(region(0, 3, 5, 10, 1, 3, 35), region(5, 3, 5, 10, 1, 3, 35)),
            Overlap::partial);
}

// Batches beside each other inside the rows of one buffer, as the heads of attention lie.
TEST(FindOverlap, BatchesInsideTheRowsAreApart) {
  // Rows of [q: 4 heads of 5 | k: 4 heads of 5].
  const Region q = region(0, 8, 5, 40, 1, 4, 5);
  const Region k = region(20, 8, 5, 40, 1, 4, 5);
  EXPECT_EQ(find_overlap(q, k), Overlap::none);
  EXPECT_EQ(find_overlap(k, q), Overlap::none);
  EXPECT_EQ(find_overlap(region(0, 8, 5, 40, 1, 5, 5), k), Overlap::partial);
  // Rows of 4 heads, each [q: 5 | k: 5].
  EXPECT_EQ(find_overlap(region(0, 8, 5, 40, 1, 4, 10), region(5, 8, 5, 40, 1, 4, 10)),
            Overlap::none);
  EXPECT_EQ(find_overlap(region(0, 8, 5, 40, 1, 4, 10), region(4, 8, 5, 40, 1, 4, 10)),
            Overlap::partial);
  // One row a batch.
  EXPECT_EQ(find_overlap(region(0, 1, 5, 0, 1, 4, 10), region(5, 1, 5, 0, 1, 4, 10)),
            Overlap::none);
  // A matrix without batches in the gap of one with.
  EXPECT_EQ(find_overlap(q, region(20, 8, 20, 40)), Overlap::none);
  EXPECT_EQ(find_overlap(q, region(19, 8, 20, 40)), Overlap::partial);
}

// Whatever the strides, a shared byte is never overlooked.
TEST(FindOverlap, NeverMissesASharedElement) {
  std::mt19937 generator(5);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator);
  };
  int apart = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::int64_t row = between(1, 12), column = between(1, 3), batch = between(0, 16);
    const auto make = [&] {
      const bool same = between(0, 1) == 0;  // mostly the same strides: others are seldom apart
      return region(between(0, 30), between(1, 4), between(1, 4), same ? row : between(1, 12),
                    same ? column : between(1, 3), between(1, 3), same ? batch : between(0, 16));
    };
    const Region x = make(), y = make();
    const auto elements = [](const Region& r) {
      std::set<const std::byte*> all;
      for (std::int64_t b = 0; b < r.batch; ++b) {
        for (std::int64_t i = 0; i < r.rows; ++i) {
          for (std::int64_t j = 0; j < r.columns; ++j) {
            all.insert(static_cast<const std::byte*>(r.data) + b * r.batch_bytes + i * r.row_bytes +
                       j * r.column_bytes);
          }
        }
      }
      return all;
    };
    const auto in_x = elements(x), in_y = elements(y);
    const bool shared =
        std::any_of(in_x.begin(), in_x.end(), [&](const auto* at) { return in_y.contains(at); });
    if (find_overlap(x, y) != Overlap::none) continue;
    ++apart;
    ASSERT_FALSE(shared) << round;
  }
  EXPECT_GT(apart, 2000);
}

TEST(FindOverlap, EmptyRegionsShareNothing) {
  EXPECT_EQ(find_overlap(region(0, 0, 5, 5), region(0, 4, 5, 5)), Overlap::none);
}

TEST(PlanCache, DropsTheLeastRecentlyUsed) {
  PlanCache cache(2);
  const Machine machine = host_machine();
  const auto problem = [](std::int64_t m) { return make_problem(m, 2, 2); };
  for (const std::int64_t m : {1, 2}) {
    const auto plan = prepare(problem(m), nullptr, machine, {.device = Device::cpu});
    ASSERT_TRUE(plan);
    cache.insert(problem(m), *plan);
    cache.insert(problem(m), *plan);
  }
  EXPECT_EQ(cache.size(), 2U);
  ASSERT_TRUE(cache.find(problem(1)));  // 2 is now the oldest
  cache.insert(problem(3), *cache.find(problem(1)));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(cache.find(problem(1)));
  EXPECT_FALSE(cache.find(problem(2)));
  EXPECT_TRUE(cache.find(problem(3)));
}

}  // namespace
}  // namespace tilewise
