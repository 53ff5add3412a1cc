#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/ladder_schedules.h"
#include "report/choose_schedule.h"
#include "tilewise/report.h"

namespace tilewise {
namespace {

using ::testing::HasSubstr;

Machine named(std::string_view name) {
  auto machine = find_machine(name);
  EXPECT_TRUE(machine.has_value());
  return *machine;
}

// The best-first choice equals the least of all exact estimates.
TEST(Explain, ChoosesTheLeastEstimate) {
  for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096},
                                {16, 8192, 8192},
                                {300, 700, 5000},
                                {1, 1, 1},
                                {20000, 128, 64}}) {
    for (const Type type : {Type::f32, Type::bf16, Type::f8e4m3}) {
      for (const char* name : {"h200", "a100", "rtx4090"}) {
        const Problem p = make_problem(m, n, k, type);
        const Machine machine = named(name);
        const Ranking ranking = rank_schedules(p, machine);
        if (ranking.best == nullptr) continue;
        const double best = estimate(p, *ranking.best, machine)->time_us;
        for (const Alternative& other : ranking.alternatives) {
          auto exact = estimate(p, *find_schedule(other.what), machine);
          ASSERT_TRUE(exact.has_value());
          EXPECT_LE(best, exact->time_us) << other.what;
          EXPECT_LE(other.time_us, exact->time_us * (1 + 1e-12));
        }
      }
    }
  }
}

TEST(Explain, RidgesOfTheNamedMachines) {
  const Problem p = make_problem(8192, 8192, 8192, Type::bf16);
  const Schedule s = wgmma_pipeline_schedule();
  EXPECT_NEAR(explain(p, &s, named("h100"))->estimate.ridge, 295, 0.5);
  EXPECT_NEAR(explain(p, &s, named("h200"))->estimate.ridge, 206, 0.5);
}

TEST(Explain, NamesTheLimiterAndWhatWouldChangeIt) {
  const Schedule square = lanes_schedule("square_tile", 128, 8, 8, 8);
  const auto report = explain(make_problem(4096, 4096, 4096), &square, named("h200"));
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->chosen);
  EXPECT_THAT(report->limiter, HasSubstr("Limited by shared memory"));
  EXPECT_THAT(report->remedy, HasSubstr("strided pieces"));
  for (const Alternative& change : report->changes) {
    EXPECT_LE(change.time_us, 0.97 * report->estimate.time_us);
  }
  EXPECT_TRUE(std::is_sorted(report->changes.begin(), report->changes.end(),
                             [](auto& x, auto& y) { return x.time_us < y.time_us; }));
}

TEST(Explain, FewBlocksAndPaddingAreSaid) {
  const Schedule s = mma_schedule();
  const auto report = explain(make_problem(16, 8192, 8192, Type::bf16), &s, named("a100"));
  EXPECT_THAT(report->limiter, HasSubstr("32 blocks fill 30 % of 1 wave"));
  EXPECT_THAT(report->limiter, HasSubstr("88 % of the products are padding"));
  EXPECT_THAT(report->remedy, HasSubstr("K split"));
}

TEST(Explain, ZeroDimensions) {
  const auto report = explain(make_problem(0, 5, 5), nullptr, named("h200"));
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->estimate.time_us, 0);
  EXPECT_THAT(report->limiter, HasSubstr("nothing is multiplied"));
  EXPECT_THAT(report_text(*report), HasSubstr("nothing is multiplied"));
  EXPECT_THAT(report_svg(*report), HasSubstr("</svg>"));
}

TEST(Explain, EveryNamedMachineAndScheduleGivesAReportOrAReason) {
  for (const Machine& machine : named_machines()) {
    for (const Schedule& schedule : named_schedules()) {
      for (const Type type : {Type::f32, Type::bf16, Type::f8e4m3}) {
        const auto report = explain(make_problem(1000, 1000, 1008, type), &schedule, machine);
        if (report) {
          EXPECT_GT(report->estimate.time_us, 0);
          EXPECT_FALSE(report->limiter.empty());
          EXPECT_FALSE(report->remedy.empty());
          EXPECT_THAT(report_svg(*report), HasSubstr("</svg>"));
        } else {
          EXPECT_THAT(report.error().message, HasSubstr("explain: "));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilewise
