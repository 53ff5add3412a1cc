#include "tilewise/pebble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tilewise {
namespace {

void expect_equal(const FastMemoryRun& run, const ResidentSchedule& counted) {
  EXPECT_EQ(Count(run.reads_a), counted.reads_a);
  EXPECT_EQ(Count(run.reads_b), counted.reads_b);
  EXPECT_EQ(Count(run.reads_c), counted.reads_c);
  EXPECT_EQ(Count(run.writes_c), counted.writes_c);
}

TEST(Pebbles, EqualTheClosedFormOverRandomSizes) {
  std::mt19937 random(3);
  auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  for (int trial = 0; trial < 400; ++trial) {
    BoundQuestion q{
        .m = draw(1, 13), .n = draw(1, 13), .k = draw(1, 13), .fast_memory = draw(3, 120)};
    q.output = draw(0, 1) ? Output::created : Output::updated;
    for (const Resident resident : {Resident::c, Resident::a, Resident::b}) {
      auto best = best_resident(q, resident);
      auto run = simulate_pebbles(q, resident, best->rows, best->columns);
      ASSERT_TRUE(run.has_value()) << run.error().message;
      expect_equal(*run, *best);
      EXPECT_EQ(run->products, static_cast<std::uint64_t>(q.m * q.n * q.k));
      EXPECT_LE(run->peak, best->memory);
    }
  }
}

TEST(Pebbles, UseTheMemoryThatTheRuleStates) {
  const BoundQuestion q{.m = 20, .n = 20, .k = 5, .fast_memory = 31};
  EXPECT_EQ(simulate_pebbles(q, Resident::c, 5, 5)->peak, 31);
  auto refused = simulate_pebbles(q, Resident::c, 5, 6);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message,
              ::testing::HasSubstr("needs 36 elements of fast memory, 5 more"));
}

TEST(Pebbles, ZeroDimensionsMoveNothing) {
  const BoundQuestion q{.m = 4, .n = 4, .k = 0, .fast_memory = 31};
  EXPECT_EQ(simulate_pebbles(q, Resident::c, 2, 2)->writes_c, 0u);
  EXPECT_EQ(simulate_lru(q, 2, 2)->reads_a, 0u);
}

TEST(Pebbles, RefuseALongSimulation) {
  const BoundQuestion q{.m = 4096, .n = 4096, .k = 4096, .fast_memory = 31};
  EXPECT_THAT(simulate_pebbles(q, Resident::c, 2, 2).error().message,
              ::testing::HasSubstr("2^32 products"));
}

// LRU reaches the C-resident count at S = a^2 + 3a + 1 and not below (a = 2: at 10).
TEST(Lru, NeedsMoreThanPebbles) {
  for (const std::int64_t a : {2, 3, 4, 6, 8, 12}) {
    BoundQuestion q{.m = 3 * a, .n = 3 * a, .k = 7, .fast_memory = a == 2 ? 10 : a * a + 3 * a + 1};
    auto counted = count_resident(q, Resident::c, a, a);
    auto enough = simulate_lru(q, a, a);
    expect_equal(*enough, *counted);
    --q.fast_memory;
    auto less = simulate_lru(q, a, a);
    EXPECT_GT(less->reads_a + less->reads_b + less->reads_c, enough->reads_a + enough->reads_b)
        << "edge " << a;
  }
}

TEST(Lru, SerpentineSavesOneColumnOfAAtEachTileChange) {
  for (const std::int64_t a : {3, 4, 6, 8}) {
    const BoundQuestion q{.m = a, .n = 5 * a, .k = 9, .fast_memory = a * a + 3 * a + 1};
    auto plain = simulate_lru(q, a, a), serpentine = simulate_lru(q, a, a, true);
    EXPECT_EQ(plain->reads_a - serpentine->reads_a, static_cast<std::uint64_t>(4 * a));
    EXPECT_EQ(plain->reads_b, serpentine->reads_b);
  }
}

TEST(Lru, RaggedTilesReachTheClosedFormToo) {
  const BoundQuestion q{.m = 10, .n = 11, .k = 6, .fast_memory = 29, .output = Output::updated};
  expect_equal(*simulate_lru(q, 4, 4), *count_resident(q, Resident::c, 4, 4));
}

// A memory that holds everything reads each element once.
TEST(Lru, ReadsEachElementOnceWhenAllFits) {
  const BoundQuestion q{.m = 9, .n = 8, .k = 7, .fast_memory = 9 * 7 + 7 * 8 + 9 * 8};
  auto run = simulate_lru(q, 2, 3);
  EXPECT_EQ(run->reads_a, 63u);
  EXPECT_EQ(run->reads_b, 56u);
  EXPECT_EQ(run->reads_c, 0u);
  EXPECT_EQ(run->writes_c, 72u);
  EXPECT_EQ(run->peak, 191);
}

TEST(Lru, NeverBeatsTheFloor) {
  std::mt19937 random(5);
  auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    const BoundQuestion q{
        .m = draw(1, 20), .n = draw(1, 20), .k = draw(1, 20), .fast_memory = draw(3, 150)};
    auto run = simulate_lru(q, draw(1, 9), draw(1, 9), draw(0, 1));
    EXPECT_GE(static_cast<double>(run->reads_a + run->reads_b + run->reads_c + run->writes_c),
              *floor_elements(q));
    EXPECT_LE(run->peak, q.fast_memory);
  }
}

}  // namespace
}  // namespace tilewise
