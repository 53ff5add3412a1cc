#include "plan/check_arguments.h"

#include <gtest/gtest.h>

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
