// Worked values: facts of docs/bounds.md, computed by an independent program.
#include "tilewise/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tilewise {
namespace {

using ::testing::HasSubstr;

double value(const BoundReport& report, std::string_view name) {
  for (const Bound& b : report.bounds)
    if (b.name == name) return b.elements;
  ADD_FAILURE() << "no bound " << name;
  return 0;
}

std::int64_t as_int(Count count) {
  EXPECT_FALSE(count.overflowed());
  return static_cast<std::int64_t>(count.raw());
}

struct Worked {
  std::int64_t m, n, k, s;
  double compulsory, irony, smith, cosma, floor;
  std::int64_t square, square_reads, square_total;
  std::int64_t best_c, best_b, best_a;
};

constexpr std::int64_t kMillion = 1'000'000;
const Worked kWorked[] = {
    {64, 64, 64, 255, 12288, 5549.0, 32322.2, 36928.2, 32322.2, 15, 40960, 45056, 40960, 49152,
     49152},
    {100, 100, 100, 120, 30000, 32154.9, 182334.2, 192574.2, 182334.2, 10, 200000, 210000, 210000,
     290000, 290000},
    {96, 96, 96, 288, 27648, 18144.0, 103691.1, 113483.1, 103691.1, 16, 110592, 119808, 119808,
     156672, 156672},
    {512, 512, 512, 1023, 786432, 1482612.0, 8390661.0, 8654851.0, 8390661.0, 31, 8912896, 9175040,
     9175040, 12320768, 12320768},
    {1024, 1024, 1024, 16384, 3145728, 2949436.8, 16744448.0, 17825792.0, 16744448.0, 127, 18874368,
     19922944, 18874368, 24117248, 24117248},
    {4096, 4096, 4096, 57600, 50331648, 101175750.0, 572547106.1, 589439522.1, 572547106.1, 239,
     603979776, 620756992, 603979776, 822083584, 822083584},
    {4096, 4096, 4096, 1 << 20, 50331648, 22677990.4, 132120576.0, 150994944.0, 132120576.0, 1023,
     167772160, 184549376, 167772160, 201326592, 201326592},
    {10000, 10, 10, 121, 200100, 32020.2, 181576.2, 281818.2, 200100, 10, 200000, 300000, 291000,
     200100, 291000},
    {kMillion, 31, 31, 1024, 62000961, 10616626.3, 60060452.0, 91062500.0, 62000961, 31, 62000899,
     93000899, 92031250, 62000961, 92031250},
    {8192, 8192, 8192, 13107200, 201326592, 40579891.2, 277485650.0, 370808914.0, 277485650.0, 3619,
     402653184, 469762048, 402653184, 469762048, 469762048},
};

class WorkedValues : public ::testing::TestWithParam<Worked> {};

TEST_P(WorkedValues, Bounds) {
  const Worked& w = GetParam();
  auto report = bound({.m = w.m, .n = w.n, .k = w.k, .fast_memory = w.s});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->compulsory.to_double(), w.compulsory);
  EXPECT_NEAR(value(*report, "irony-toledo-tiskin"), w.irony, 0.06);
  EXPECT_NEAR(value(*report, "smith"), w.smith, 0.06);
  EXPECT_NEAR(value(*report, "cosma"), w.cosma, 0.06);
  EXPECT_NEAR(report->floor, w.floor, 0.06);
}

TEST_P(WorkedValues, Schedules) {
  const Worked& w = GetParam();
  const BoundQuestion q{.m = w.m, .n = w.n, .k = w.k, .fast_memory = w.s};
  EXPECT_EQ(square_edge_streamed(w.s), w.square);
  auto square = count_resident(q, Resident::c, w.square, w.square);
  ASSERT_TRUE(square.has_value());
  EXPECT_EQ(as_int(square->reads_a + square->reads_b), w.square_reads);
  EXPECT_EQ(as_int(square->moved), w.square_total);
  auto report = bound(q);
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->schedules.size(), 3u);
  EXPECT_EQ(as_int(report->schedules[0].moved), w.best_c);
  EXPECT_EQ(as_int(report->schedules[1].moved), w.best_a);
  EXPECT_EQ(as_int(report->schedules[2].moved), w.best_b);
  for (const ResidentSchedule& s : report->schedules) {
    EXPECT_LE(s.memory, w.s);
    EXPECT_EQ(count_resident(q, s.resident, s.rows, s.columns)->moved, s.moved);
  }
}

INSTANTIATE_TEST_SUITE_P(Facts, WorkedValues, ::testing::ValuesIn(kWorked));

TEST(Bounds, BestRectanglesAreThoseOfTheWorkedValues) {
  auto shape = [](std::int64_t edge, std::int64_t s) {
    auto best = best_resident({.m = edge, .n = edge, .k = edge, .fast_memory = s}, Resident::c);
    return std::pair(best->rows, best->columns);
  };
  EXPECT_EQ(shape(64, 255), std::pair(11L, 22L));
  EXPECT_EQ(shape(512, 1023), std::pair(26L, 38L));
  EXPECT_EQ(shape(1024, 16384), std::pair(94L, 173L));
  EXPECT_EQ(shape(4096, 57600), std::pair(205L, 279L));
  EXPECT_EQ(shape(8192, 13107200), std::pair(2731L, 4798L));
}

TEST(Bounds, SquareEdgesDifferAtSomeSizes) {
  EXPECT_EQ(square_edge_held(1200), 33);
  EXPECT_EQ(square_edge_streamed(1200), 34);
  EXPECT_EQ(square_edge_held(120), 10);
  for (std::int64_t s = 3; s < 5000; ++s) {
    const std::int64_t held = square_edge_held(s), streamed = square_edge_streamed(s);
    EXPECT_TRUE(held * held + 2 * held <= s && (held + 1) * (held + 1) + 2 * (held + 1) > s);
    EXPECT_TRUE(streamed * streamed + streamed + 1 <= s);
    EXPECT_TRUE((streamed + 1) * (streamed + 1) + streamed + 2 > s);
  }
}

// COSMA's figure exceeds what another schedule attains when K is at or below about sqrt(S).
TEST(Bounds, CosmaIsNotAFloor) {
  auto report = bound({.m = 10000, .n = 10, .k = 10, .fast_memory = 121});
  EXPECT_GT(value(*report, "cosma"), as_int(report->schedules[2].moved));
  for (const Bound& b : report->bounds) {
    if (b.name == "cosma") {
      EXPECT_FALSE(b.is_floor);
      EXPECT_THAT(b.note, HasSubstr("not a floor"));
    }
  }
  const BoundQuestion tiny{.m = 8, .n = 1, .k = 1, .fast_memory = 3};
  auto optimum = optimal_traffic(tiny);
  ASSERT_TRUE(optimum.has_value()) << optimum.error().message;
  EXPECT_EQ(optimum->reads_and_writes, 17);
  EXPECT_NEAR(value(*bound(tiny), "cosma"), 17.24, 0.005);
}

TEST(Bounds, ConventionsDifferByTheOutput) {
  BoundQuestion q{.m = 64, .n = 64, .k = 64, .fast_memory = 255};
  const double total = *floor_elements(q);
  q.counted = Counted::reads;
  EXPECT_DOUBLE_EQ(*floor_elements(q), total - 4096);
  q.output = Output::updated;
  EXPECT_DOUBLE_EQ(*floor_elements(q), total);
  q.counted = Counted::reads_and_writes;
  EXPECT_DOUBLE_EQ(*floor_elements(q), total + 4096);
}

TEST(Bounds, SegmentArgumentInNumbers) {
  auto report = bound({.m = 64, .n = 64, .k = 64, .fast_memory = 50});
  const SegmentArgument& irony = report->segments[0];
  EXPECT_EQ(irony.transfers, 50);
  EXPECT_EQ(irony.elements, 100);
  EXPECT_EQ(irony.products, 1000);  // sqrt(100^3)
  EXPECT_EQ(irony.segments, 262);   // floor(262144 / 1000)
  EXPECT_EQ(irony.at_least, 13100);
  EXPECT_LE(irony.at_least, report->floor);
  const SegmentArgument& smith = report->segments[1];
  EXPECT_EQ(smith.transfers, 100);
  EXPECT_EQ(smith.elements, 150);
  EXPECT_NEAR(smith.products, 353.553, 0.001);
  EXPECT_EQ(smith.segments, 741);
  EXPECT_EQ(smith.at_least, 74100);
  EXPECT_LE(smith.at_least, report->floor + 100);
}

// A whole number of segments: the last one may be unfinished, so one fewer is certain.
TEST(Bounds, TheLastSegmentDoesNotCount) {
  auto report = bound({.m = 1024, .n = 1024, .k = 1024, .fast_memory = 16384});
  EXPECT_EQ(report->segments[1].products, 2097152);
  EXPECT_EQ(report->segments[1].segments, 511);
  EXPECT_EQ(report->segments[1].at_least, report->floor);
}

TEST(Bounds, ZeroDimensionsCompareNothing) {
  for (const BoundQuestion q : {BoundQuestion{.m = 0, .n = 5, .k = 5, .fast_memory = 9},
                                BoundQuestion{.m = 5, .n = 0, .k = 5, .fast_memory = 9},
                                BoundQuestion{.m = 5, .n = 5, .k = 0, .fast_memory = 9}}) {
    auto report = bound(q);
    ASSERT_TRUE(report.has_value());
    EXPECT_FALSE(report->compared);
    EXPECT_EQ(report->floor, 0);
    EXPECT_EQ(as_int(report->compulsory), 0);
    EXPECT_TRUE(report->schedules.empty());
    EXPECT_EQ(optimal_traffic(q)->reads_and_writes, 0);
    EXPECT_EQ(mixed_bound(q.m, q.n, q.k, {}, 100)->floor_bytes, 0);
  }
}

TEST(Bounds, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(bound({.m = -1, .n = 1, .k = 1, .fast_memory = 9}).error().message,
              HasSubstr("m is -1"));
  EXPECT_THAT(bound({.m = 1, .n = 1, .k = 1, .fast_memory = 2}).error().message,
              HasSubstr("fast memory is 2"));
  EXPECT_THAT(bound({.m = 1, .n = 1, .k = 1, .fast_memory = 3, .memories = 0}).error().message,
              HasSubstr("memories is 0"));
  EXPECT_THAT(mixed_bound(1, 1, 1, {2, 2, 4}, 7).error().message, HasSubstr("takes 8"));
  EXPECT_THAT(mixed_bound(1, 1, 1, {0, 2, 4}, 70).error().message, HasSubstr("0,2,4"));
}

// bf16 operands, float32 accumulators, 8192^3 on 132 SMs.
TEST(Bounds, MixedSizesOnPrivateMemories) {
  const ElementBytes sizes{2, 2, 4};
  auto megabytes = [&](std::int64_t bytes, std::int64_t memories) {
    return mixed_bound(8192, 8192, 8192, sizes, bytes, memories)->floor_bytes / 1e6;
  };
  EXPECT_NEAR(megabytes(495616, 132), 6116.4, 0.06);
  EXPECT_NEAR(megabytes(262144, 132), 8520.7, 0.06);
  EXPECT_NEAR(megabytes(2 * 495616, 66), 4286.6, 0.06);
  EXPECT_NEAR(megabytes(4 * 495616, 33), 2992.8, 0.06);
  EXPECT_LT(mixed_bound(8192, 8192, 8192, sizes, 132 * 495616)->formula_bytes / 1e6, 413.0);
  EXPECT_NEAR(mixed_bound(8192, 8192, 8192, sizes, 132 * 495616)->formula_bytes / 1e6, 412.9, 0.06);
}

TEST(Bounds, EqualSizesGiveSmithBack) {
  const BoundQuestion q{.m = 700,
                        .n = 300,
                        .k = 500,
                        .fast_memory = 1000,
                        .output = Output::updated,
                        .counted = Counted::reads};
  auto mixed = mixed_bound(700, 300, 500, {4, 4, 4}, 4000);
  EXPECT_NEAR(mixed->formula_bytes / 4, value(*bound(q), "smith"), 1e-6);
  auto created = mixed_bound(700, 300, 500, {4, 4, 4}, 4000, 1, Output::created);
  EXPECT_NEAR(mixed->formula_bytes - created->formula_bytes, 4.0 * 700 * 300, 1e-6);
}

TEST(Optimal, WorkedValues) {
  struct Case {
    std::int64_t m, n, k, s;
    bool in_order;
    Output output;
    std::int64_t optimum;
  };
  const Case cases[] = {
      {2, 2, 2, 3, false, Output::created, 17},  {2, 2, 2, 4, false, Output::created, 14},
      {2, 2, 2, 5, false, Output::created, 13},  {2, 2, 2, 6, false, Output::created, 12},
      {2, 2, 2, 12, false, Output::created, 12}, {2, 2, 2, 3, true, Output::created, 20},
      {2, 2, 2, 3, false, Output::updated, 21},  {2, 2, 2, 4, false, Output::updated, 18},
      {2, 2, 2, 5, false, Output::updated, 17},  {2, 2, 2, 6, false, Output::updated, 16},
      {2, 2, 3, 4, true, Output::created, 22},   {2, 2, 3, 5, true, Output::created, 19},
      {2, 2, 3, 6, true, Output::created, 17},   {2, 2, 3, 7, true, Output::created, 16},
      {3, 2, 1, 3, false, Output::created, 13},  {3, 2, 1, 4, false, Output::created, 11},
      {2, 1, 3, 3, false, Output::created, 13},  {2, 1, 3, 4, false, Output::created, 11},
      {3, 1, 2, 3, false, Output::created, 13},  {3, 1, 2, 4, false, Output::created, 11},
  };
  for (const Case& c : cases) {
    auto optimum = optimal_traffic(
        {.m = c.m, .n = c.n, .k = c.k, .fast_memory = c.s, .output = c.output}, c.in_order);
    ASSERT_TRUE(optimum.has_value()) << optimum.error().message;
    EXPECT_EQ(optimum->reads_and_writes, c.optimum)
        << c.m << c.n << c.k << " S=" << c.s << " in order " << c.in_order;
  }
}

TEST(Optimal, RefusesWhatIsTooLarge) {
  EXPECT_THAT(optimal_traffic({.m = 4, .n = 4, .k = 4, .fast_memory = 8}).error().message,
              HasSubstr("112 bits"));
  EXPECT_THAT(
      optimal_traffic({.m = 2, .n = 2, .k = 2, .fast_memory = 8, .memories = 2}).error().message,
      HasSubstr("one fast memory"));
  auto large = optimal_traffic({.m = 3, .n = 3, .k = 3, .fast_memory = 12});
  ASSERT_FALSE(large.has_value());
  EXPECT_THAT(large.error().message, HasSubstr("states without an answer"));
}

// bound <= optimum <= every resident schedule, over random tiny products.
TEST(Optimal, LiesBetweenTheBoundAndEverySchedule) {
  std::mt19937 random(7);
  auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  int compared = 0;
  while (compared < 150) {
    BoundQuestion q{.m = draw(1, 4), .n = draw(1, 4), .k = draw(1, 3), .fast_memory = draw(3, 8)};
    if (q.m * q.n * q.k > 8) continue;
    q.output = draw(0, 1) ? Output::created : Output::updated;
    auto optimum = optimal_traffic(q);
    ASSERT_TRUE(optimum.has_value()) << optimum.error().message;
    const auto best = static_cast<double>(optimum->reads_and_writes);
    auto report = bound(q);
    EXPECT_LE(report->floor, best);
    for (const Bound& b : report->bounds) {
      if (b.is_floor) {
        EXPECT_LE(b.elements, best) << b.name;
      }
    }
    for (const Resident resident : {Resident::c, Resident::a, Resident::b}) {
      for (std::int64_t rows = 1; rows <= 4; ++rows) {
        for (std::int64_t columns = 1; columns <= 4; ++columns) {
          auto schedule = count_resident(q, resident, rows, columns);
          if (schedule->memory > q.fast_memory) continue;
          EXPECT_GE(schedule->moved.to_double(), best)
              << q.m << "x" << q.n << "x" << q.k << " S=" << q.fast_memory;
        }
      }
    }
    ++compared;
  }
}

// The search over rectangles finds the least of all of them; every floor holds for it.
TEST(Bounds, HoldForEveryScheduleOverRandomSizes) {
  std::mt19937 random(11);
  auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    BoundQuestion q{
        .m = draw(1, 40), .n = draw(1, 40), .k = draw(1, 40), .fast_memory = draw(3, 200)};
    q.output = draw(0, 1) ? Output::created : Output::updated;
    q.counted = draw(0, 1) ? Counted::reads : Counted::reads_and_writes;
    const double floor = *floor_elements(q);
    for (const Resident resident : {Resident::c, Resident::a, Resident::b}) {
      const std::int64_t height = resident == Resident::b ? q.k : q.m;
      const std::int64_t width = resident == Resident::a ? q.k : q.n;
      Count least = Count::overflow();
      for (std::int64_t rows = 1; rows <= height; ++rows) {
        for (std::int64_t columns = 1; columns <= width; ++columns) {
          auto s = count_resident(q, resident, rows, columns);
          if (s->memory > q.fast_memory) continue;
          EXPECT_LE(floor, s->moved.to_double() * (1 + 1e-12));
          if (least.overflowed() || s->moved < least) least = s->moved;
        }
      }
      auto best = best_resident(q, resident);
      EXPECT_EQ(best->moved, least);
      EXPECT_LE(best->memory, q.fast_memory);
    }
  }
}

TEST(Bounds, LargeSizesAreExact) {
  const std::int64_t huge = 1'000'000'000'000;
  auto report = bound({.m = huge, .n = huge, .k = huge, .fast_memory = 1 << 20});
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->compulsory.to_double(), 3e24);
  EXPECT_FALSE(report->schedules[0].moved.overflowed());
}

}  // namespace
}  // namespace tilewise
