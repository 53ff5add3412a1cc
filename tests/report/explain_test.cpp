#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpu/kernel_files.h"
#include "model/ladder_schedules.h"
#include "report/choose_schedule.h"
#include "schedule/honours.h"
#include "tilewise/report.h"
#include "tilewise/units.h"

namespace tilewise {
namespace {

using ::testing::HasSubstr;

Machine named(std::string_view name) {
  auto machine = find_machine(name);
  EXPECT_TRUE(machine.has_value());
  return *machine;
}

Problem tf32_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p = make_problem(m, n, k);
  p.compute = Compute::tf32;
  return p;
}

// Operands of 8 bits lie along K.
Problem f8_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p = make_problem(m, n, k, Type::f8e4m3);
  p.type_c = p.type_d = Type::bf16;
  p.b = {.row = 1, .column = k};
  return p;
}

// Every floating-point figure of a report.
std::vector<double> figures(const Report& report) {
  const Estimate& e = report.estimate;
  std::vector<double> all = {e.time_us,
                             e.tflops,
                             e.ridge,
                             e.peak_tflops,
                             e.block_intensity,
                             e.dram_bound_bytes,
                             e.waves.fraction,
                             e.waves.efficiency,
                             e.busy,
                             e.padding_efficiency,
                             e.occupancy.occupancy};
  for (const auto* levels : {&e.levels, &e.memories}) {
    for (const LevelEstimate& level : *levels) {
      all.insert(all.end(), {level.bytes, level.intensity, level.ridge, level.bound_bytes});
    }
  }
  for (const TimeTerm& term : e.terms) all.push_back(term.time_us);
  for (const auto* others : {&report.schedules, &report.changes}) {
    for (const Alternative& other : *others) all.push_back(other.time_us);
  }
  return all;
}

// The best-first choice equals the least of all exact estimates.
TEST(Explain, ChoosesTheLeastEstimate) {
  for (const auto& [m, n, k] : {std::tuple{4096, 4096, 4096},
                                {16, 8192, 8192},
                                {300, 700, 5000},
                                {1, 1, 1},
                                {20000, 128, 64}}) {
    for (const Problem& p : {make_problem(m, n, k), make_problem(m, n, k, Type::bf16),
                             f8_problem(m, n, k), tf32_problem(m, n, k)}) {
      for (const char* name : {"h200", "a100", "rtx4090"}) {
        const Machine machine = named(name);
        const Ranking ranking = rank_schedules(p, machine);
        if (!ranking.best) continue;
        const double best = estimate(p, *ranking.best, machine)->time_us;
        for (const Alternative& other : ranking.alternatives) {
          const auto schedule = find_schedule(other.what);
          if (!schedule) continue;  // the nearest that fits
          auto exact = estimate(p, *schedule, machine);
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
  EXPECT_THAT(report->limiter, HasSubstr("32 blocks keep 29.6 % of 108 SMs busy"));
  EXPECT_THAT(report->limiter, HasSubstr("87.5 % of the products are padding"));
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

TEST(Explain, KOfZeroStillWritesD) {
  const auto report = explain(make_problem(512, 512, 0), nullptr, named("h200"));
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->limiter, HasSubstr("K is 0"));
  EXPECT_GT(report->estimate.time_us, 0);
}

// What the choice takes for granted is what the kernels' headers say.
TEST(Explain, KernelsMultiplyWhatTheirHeadersSay) {
  const auto files = gpu::kernel_files().value();
  for (const Schedule& s : named_schedules()) {
    if (s.device != Device::gpu) continue;
    for (const Type type :
         {Type::f64, Type::f32, Type::bf16, Type::f16, Type::f8e4m3, Type::f8e5m2}) {
      Problem p = make_problem(64, 64, 64, type);
      if (type != Type::f64) p.compute = s.compute;
      const bool multiplies =
          p.compute == s.compute && check_needs(files, p, s, "sm_90a").has_value();
      EXPECT_EQ(kernel_multiplies(s, p), multiplies) << s.name << " " << to_string(type);
    }
  }
}

// What explain says is issued is what count --units finds from the kernels' own address functions.
TEST(Explain, IssuesWhatTheUnitsCount) {
  for (const Schedule& s : named_schedules()) {
    if (s.device != Device::gpu) continue;
    for (const std::int64_t m : {128, 200, 384}) {
      const bool f8 = s.kernel == "wgmma_fp8";
      const bool half = find_tile(s, Level::instruction) != nullptr && s.compute == Compute::f32;
      Problem p = make_problem(m, 264, 136, f8 ? Type::f8e4m3 : half ? Type::bf16 : Type::f32);
      p.compute = s.compute;
      p.k = 144, p.a = {.row = 144, .column = 1}, p.b = {.row = 1, .column = 144};
      const auto counted = count_units(p, s);
      const auto e = estimate(p, s, named("h200"));
      ASSERT_TRUE(counted.has_value()) << s.name << ": " << counted.error().message;
      ASSERT_TRUE(e.has_value()) << s.name << ": " << e.error().message;
      const auto units = [](const Traffic& traffic, std::string_view unit) {
        Count sum;
        for (const TrafficRow& row : traffic.rows) {
          if (row.unit == unit) sum += row.value;
        }
        return sum;
      };
      EXPECT_EQ(units(e->traffic, "ffma"), units(*counted, "ffma")) << s.name << " " << m;
      EXPECT_EQ(Count(4) * units(e->traffic, "wgmma"), units(*counted, "gmma"))
          << s.name << " " << m;
      EXPECT_EQ(units(e->traffic, "bulk-copy bytes"), units(*counted, "bulk-copy bytes")) << s.name;
      const int parts = s.kernel == "wmma" ? 2 : 1;  // a wmma is two instructions of the machine
      EXPECT_EQ(Count(parts) * units(e->traffic, "mma"), units(*counted, "hmma")) << s.name << m;
    }
  }
}

TEST(Explain, TheChoiceHasTheComputeAskedFor) {
  for (const Machine& machine : named_machines()) {
    for (const std::int64_t m : {1, 64, 1000, 4096}) {
      for (const Problem& p : {make_problem(m, 512, 512), tf32_problem(m, 512, 512)}) {
        const auto report = explain(p, nullptr, machine);
        ASSERT_TRUE(report.has_value()) << report.error().message;
        EXPECT_EQ(report->schedule.compute, p.compute) << machine.name;
        for (const Alternative& other : report->schedules) {
          const auto schedule = find_schedule(other.what.substr(0, other.what.find(' ')));
          EXPECT_EQ(schedule->compute, p.compute) << other.what;
        }
      }
    }
  }
  EXPECT_EQ(explain(tf32_problem(4096, 4096, 4096), nullptr, named("h200"))->schedule.name,
            "mma_tf32");
  Problem along_k = tf32_problem(4096, 4096, 4096);
  along_k.b = {.row = 1, .column = 4096};
  EXPECT_EQ(explain(along_k, nullptr, named("h200"))->schedule.name, "wgmma_pipeline_tf32");
}

TEST(Explain, SaysWhenToPadAndHowToLayOut) {
  const auto odd = explain(make_problem(4092, 4092, 4092, Type::bf16), nullptr, named("h200"));
  EXPECT_EQ(odd->schedule.name, "mma");
  EXPECT_THAT(odd->remedy, HasSubstr("rows of A padded to 4096 elements, rows of B padded to 4096 "
                                     "elements and schedule \"wgmma"));
  EXPECT_TRUE(std::ranges::any_of(odd->refused, [](const Refusal& r) {
    return r.what == "wgmma_pipeline" && r.why.starts_with("row stride of A is 4092");
  }));
  const auto tf32 = explain(tf32_problem(4096, 4096, 4096), nullptr, named("h200"));
  EXPECT_THAT(tf32->remedy, HasSubstr("layout nt"));
}

// The stages of "mma" are more than an A100 holds; with one fewer it is still the fastest.
TEST(Explain, TakesTheNearestThatFits) {
  const auto report = explain(make_problem(4096, 4096, 4096, Type::bf16), nullptr, named("a100"));
  EXPECT_EQ(report->schedule.name, "mma with 3 stages");
  EXPECT_EQ(report->schedule.stages, 3);
  EXPECT_TRUE(std::ranges::any_of(report->refused, [](const Refusal& r) {
    return r.what == "mma" && r.why.find("the nearest that fits has 3 stages") != std::string::npos;
  }));
}

TEST(Explain, NothingFitsSaysWhy) {
  const auto message = [](const Problem& p, const char* machine) {
    const auto report = explain(p, nullptr, named(machine));
    return report ? std::string() : report.error().message;
  };
  EXPECT_THAT(message(make_problem(64, 64, 64, Type::f64), "h200"), HasSubstr("machine \"host\""));
  EXPECT_THAT(message(make_problem(64, 64, 64, Type::f8e5m2), "h200"), HasSubstr("f8e4m3"));
  EXPECT_THAT(message(make_problem(64, 64, 64, Type::f8e4m3), "h200"), HasSubstr("layout nt"));
  EXPECT_THAT(message(f8_problem(64, 64, 64), "a100"), HasSubstr("take bf16"));
  Problem emulated = make_problem(64, 64, 64);
  emulated.compute = Compute::f32_bf16x9;
  EXPECT_THAT(message(emulated, "h200"), HasSubstr("compute f32 or tf32"));
}

// Figures are numbers: none negative, infinite or NaN, whatever the shape.
TEST(Explain, EveryShapeOnEveryMachineGivesFigures) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 31;
  const std::tuple<std::int64_t, std::int64_t, std::int64_t> shapes[] = {
      {0, 8, 8},       {8, 0, 8},       {8, 8, 0},       {1, 1, 1},
      {1, 8192, 8192}, {8192, 16, 511}, {127, 129, 131}, {17, 24, 100000},
      {kHuge, 64, 32}, {48, kHuge, 1},  {16, 16, kHuge}, {kHuge, 100000, 16}};
  for (const auto& [m, n, k] : shapes) {
    for (const Machine& machine : named_machines()) {
      for (const Problem& p : {make_problem(m, n, k), make_problem(m, n, k, Type::f16),
                               f8_problem(m, n, k), tf32_problem(m, n, k)}) {
        const auto report = explain(p, nullptr, machine);
        if (!report) {
          EXPECT_THAT(report.error().message, HasSubstr("no named schedule"));
          continue;
        }
        for (const double figure : figures(*report)) {
          EXPECT_TRUE(std::isfinite(figure) && figure >= 0)
              << m << " " << n << " " << k << " on " << machine.name << ": " << figure;
        }
        EXPECT_LE(report->estimate.busy, 1);
        EXPECT_LE(report->estimate.padding_efficiency, 1);
        EXPECT_LE(report->estimate.waves.efficiency, report->estimate.busy * (1 + 1e-12));
        EXPECT_FALSE(report->limiter.empty());
        EXPECT_THAT(report_text(*report), HasSubstr(report->limiter));
      }
    }
  }
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
