#include "cpu/packed_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tilewise::cpu {
namespace {

using ::testing::HasSubstr;

constexpr KernelShape kKernel{.target = "avx2", .mr = 6, .nr = 16, .accumulator = Type::f32};
const CacheSizes kCaches{.l1_bytes = 32 << 10,
                         .l2_bytes = 512 << 10,
                         .l3_bytes = 32 << 20,
                         .l3_shared_by = 2,
                         .source = "test"};

Schedule fitted(std::int64_t m, std::int64_t n, std::int64_t k, int threads = 1) {
  return fit_packed_schedule(make_problem(m, n, k), kKernel, kCaches, threads);
}

std::string refusal(const Schedule& schedule, Problem problem = make_problem(100, 100, 100)) {
  const auto tiles = resolve_packed_schedule(schedule, problem, kKernel);
  return tiles ? "accepted" : tiles.error().message;
}

TEST(FitPackedSchedule, IsValidAndAcceptedForAnyShape) {
  for (const std::int64_t m : {0, 1, 5, 6, 7, 100, 1023, 1025, 5000}) {
    for (const std::int64_t n : {0, 1, 16, 17, 2048, 2049, 9000}) {
      for (const std::int64_t k : {0, 1, 256, 257, 383, 384, 385, 10000}) {
        for (const int threads : {1, 2, 3, 64}) {
          const Problem problem = make_problem(m, n, k);
          const Schedule s = fit_packed_schedule(problem, kKernel, kCaches, threads);
          ASSERT_TRUE(validate(s)) << validate(s).error().message;
          const auto tiles = resolve_packed_schedule(s, problem, kKernel);
          ASSERT_TRUE(tiles) << tiles.error().message;
          EXPECT_GE(tiles->task_m, 1);
          EXPECT_GE(tiles->kc, 1);
          EXPECT_LE(tiles->mc, std::max<std::int64_t>(tiles->task_m, 1));
        }
      }
    }
  }
}

TEST(FitPackedSchedule, TheBlocksOfKDependOnKAlone) {
  EXPECT_EQ(fit_kc(0), 1);
  EXPECT_EQ(fit_kc(1), 1);
  EXPECT_EQ(fit_kc(256), 256);
  EXPECT_EQ(fit_kc(257), 257);  // one block is nearer than two
  EXPECT_EQ(fit_kc(383), 383);
  EXPECT_EQ(fit_kc(384), 192);
  EXPECT_EQ(fit_kc(2048), 256);
  EXPECT_EQ(fit_kc(1000), 250);
  for (const int threads : {1, 2, 7}) {
    for (const std::int64_t m : {1, 1000}) {
      EXPECT_EQ(find_tile(fitted(m, 700, 1000, threads), Level::kc)->k, 250);
    }
  }
}

TEST(FitPackedSchedule, BlocksFitTheCaches) {
  const Schedule s = fitted(4096, 4096, 4096);
  const std::int64_t kc = find_tile(s, Level::kc)->k;
  EXPECT_LE(find_tile(s, Level::mc)->m * kc * 4, kCaches.l2_bytes / 2);
  EXPECT_LE(find_tile(s, Level::nc)->n * kc * 4, kCaches.l3_bytes / 4);
}

TEST(FitPackedSchedule, EveryThreadGetsWorkInEqualShares) {
  for (const int threads : {2, 3, 4, 8}) {
    const Schedule s = fitted(2048, 2048, 2048, threads);
    const Tile* task = find_tile(s, Level::nc);
    const std::int64_t tasks = ((2047 + task->m) / task->m) * ((2047 + task->n) / task->n);
    EXPECT_GE(tasks, threads);
    const std::int64_t rounds = (tasks + threads - 1) / threads;
    EXPECT_GE(static_cast<double>(tasks) / static_cast<double>(rounds * threads), 0.9) << threads;
  }
}

TEST(ResolvePackedSchedule, ZeroMeansAllAndExtentsAreClipped) {
  Schedule s = fitted(100, 100, 100);
  s.tiles = {{.level = Level::kc, .k = 7}, {.level = Level::register_tile, .m = 6, .n = 16}};
  const auto tiles = resolve_packed_schedule(s, make_problem(100, 200, 50), kKernel);
  ASSERT_TRUE(tiles);
  EXPECT_EQ(tiles->task_m, 100);
  EXPECT_EQ(tiles->task_n, 200);
  EXPECT_EQ(tiles->kc, 7);
  EXPECT_EQ(tiles->mc, 100);
}

TEST(ResolvePackedSchedule, RefusesAndNamesOneThatWouldDo) {
  Schedule s = fitted(100, 100, 100);
  s.name = "mine";
  EXPECT_EQ(refusal(s), "accepted");

  Schedule other = s;
  other.tiles.back().m = 8;
  EXPECT_THAT(refusal(other), HasSubstr("\"mine\" has a register tile of 8 x 16"));
  EXPECT_THAT(refusal(other), HasSubstr("compiled for 6 x 16"));
  EXPECT_THAT(refusal(other), HasSubstr("take schedule \"packed_avx2_f32\""));

  other = s;
  other.kernel = "square_tile";
  EXPECT_THAT(refusal(other), HasSubstr("names kernel \"square_tile\""));

  other = s;
  other.split_k.ways = 2;
  EXPECT_THAT(refusal(other), HasSubstr("does not honour"));
  other = s;
  other.stages = 3;
  EXPECT_THAT(refusal(other), HasSubstr("does not honour"));

  other = s;
  other.order.kind = Order::Kind::hilbert;
  EXPECT_THAT(refusal(other), HasSubstr("order hilbert"));

  other = s;
  other.tiles.front().k = 32;
  EXPECT_THAT(refusal(other), HasSubstr("level nc"));

  other = s;
  other.tiles.insert(other.tiles.begin(), {.level = Level::block, .m = 64, .n = 64});
  EXPECT_THAT(refusal(other), HasSubstr("level block"));

  Problem f64 = make_problem(100, 100, 100, Type::f64);
  EXPECT_THAT(refusal(s, f64), HasSubstr("computes in f32, the problem asks for f64"));
}

}  // namespace
}  // namespace tilewise::cpu
