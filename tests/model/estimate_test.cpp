#include "tilewise/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/ladder_schedules.h"

namespace tilewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

double term(const Estimate& e, std::string_view name) {
  for (const TimeTerm& t : e.terms) {
    if (t.name == name) return t.time_us;
  }
  return 0;
}

Count units(const Estimate& e, std::string_view unit) {
  for (const TrafficRow& row : e.traffic.rows) {
    if (row.unit.starts_with(unit)) return row.value;
  }
  return 0;
}

Estimate of(const Problem& p, const Schedule& s, const Machine& machine = test_h200()) {
  auto result = estimate(p, s, machine);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result ? *result : Estimate{};
}

const Problem kCube = make_problem(4096, 4096, 4096);

// 33 lines a warp and k: 32 rows of A and one of B, one cycle each, for 32 multiply-adds.
TEST(Estimate, NaiveRowsIsLimitedByTheLinesOfItsRequests) {
  const Estimate e = of(kCube, naive_schedule("naive_rows"));
  EXPECT_EQ(e.limiter, "L1");
  EXPECT_EQ(units(e, "lines"), Count(4096LL * 4096 * 4096 / 32 * 33));
  EXPECT_NEAR(e.tflops / e.waves.efficiency, 132 * 1.98e9 * 32 / 33 * 2 / 1e12, 1e-3);
  EXPECT_EQ(units(of(kCube, naive_schedule("naive_columns")), "lines"),
            Count(4096LL * 4096 * 4096 / 32 * 2));
}

// Two reads of 4 bytes a multiply-add: 16 multiply-adds a wavefront, an eighth of the peak.
TEST(Estimate, SharedTileReachesAnEighthOfThePeak) {
  const Estimate e = of(kCube, lanes_schedule("shared_tile", 32, 32, 1, 1));
  EXPECT_EQ(e.limiter, "shared memory");
  EXPECT_EQ(units(e, "wavefronts"), Count(4096LL * 4096 * 4096 / 16));
  const double reads_alone = units(e, "wavefronts").to_double() / (132 * 1.98e9);
  EXPECT_NEAR(2.0 * 4096 * 4096 * 4096 / reads_alone / 1e12, 8.36, 0.005);
  EXPECT_LT(e.tflops, 8.36);
}

// An 8 x 8 thread tile in columns of 8: A's reads are broadcasts, B's conflict 4 ways.
TEST(Estimate, SquareTileHasFourWayConflictsOnB) {
  const Estimate e = of(kCube, lanes_schedule("square_tile", 128, 8, 8, 8));
  const double warps_k = 1024.0 * 8 * 4096;
  EXPECT_EQ(units(e, "wavefronts").to_double() / warps_k, 8 + 8 * 4);
  Schedule pieces = lanes_schedule("conflict_free", 128, 8, 8, 8, 16);
  pieces.tiles[1].repeat_m = pieces.tiles[1].repeat_n = 2;
  // 2 + 2 reads of 16 bytes: A's two rows are broadcasts, B's 16 columns of 4 words fill four.
  EXPECT_LT(units(of(kCube, pieces), "wavefronts").to_double() / warps_k, 21);
  EXPECT_EQ(of(kCube, pieces).limiter, "arithmetic");
}

TEST(Estimate, IssuedCountsPadding) {
  EXPECT_EQ(
      units(of(make_problem(129, 128, 9), lanes_schedule("square_tile", 128, 8, 8, 8)), "ffma"),
      Count(2LL * 128 * 128 * 16));
  const Estimate e = of(make_problem(8192, 8192, 8192, Type::bf16), wgmma_pipeline_schedule());
  EXPECT_EQ(units(e, "wgmma"), Count(8388608 / 4));
  EXPECT_EQ(units(e, "bulk-copy bytes"), Count(8192LL * 8192 * 32 * 2));
}

TEST(Estimate, IntensityAgainstTheRidge) {
  const Problem p = make_problem(8192, 8192, 8192, Type::bf16);
  Machine h100 = test_h200();
  h100.memory[0].bandwidth_gbps.value = 3350;
  Schedule square = wgmma_pipeline_schedule();
  square.tiles = {{Level::block, 128, 128, 64, 1, 1}, {Level::instruction, 64, 128, 16, 1, 1}};
  EXPECT_DOUBLE_EQ(of(p, square).block_intensity, 64);
  EXPECT_NEAR(of(p, wgmma_pipeline_schedule()).block_intensity, 85, 0.5);
  EXPECT_NEAR(of(p, square).ridge, 206, 0.5);
  EXPECT_NEAR(of(p, square, h100).ridge, 295, 0.5);
  EXPECT_NEAR(of(p, square).levels[0].intensity, 64, 1e-9);
}

// Sectors of 4096-float rows: all aligned, so bytes over 32; of 4092: two of three segments
// straddle.
TEST(Estimate, Sectors) {
  const Schedule s = lanes_schedule("square_tile", 128, 8, 8, 8);
  const Estimate even = of(kCube, s);
  EXPECT_EQ(even.traffic.value("block", Operand::a, Direction::read, Quantity::units),
            Count(4096LL * 4096 * 32 * 4 / 32));
  const Estimate odd = of(make_problem(4092, 4092, 4092), s);
  const Count a = odd.traffic.value("block", Operand::a, Direction::read, Quantity::units);
  // 512 segments of 32 bytes in a row (the last of 16); every second row starts 16 bytes into a
  // sector.
  EXPECT_EQ(a, Count(32) * (Count(2046) * Count(512) + Count(2046) * Count(511 * 2 + 1)));
  Problem transposed = kCube;
  transposed.a = {1, 4096, 0};
  EXPECT_EQ(of(transposed, s).traffic.value("block", Operand::a, Direction::read, Quantity::units),
            Count(4096LL * 4096 * 32 * 4 / 32));
}

TEST(Estimate, BoundsHoldAtEveryLevel) {
  for (const std::int64_t m : {1, 64, 1000, 4096}) {
    for (const std::int64_t k : {8, 64, 5000}) {
      for (const std::int64_t batch : {1, 3}) {
        for (const bool shared_b : {false, true}) {
          Problem p = make_problem(m, 2000, k, Type::bf16);
          p.batch = batch;
          p.a.batch = m * k, p.b.batch = shared_b ? 0 : k * 2000, p.d.batch = m * 2000;
          p.c = p.d;
          for (const Schedule& s : {mma_schedule(), wgmma_pipeline_schedule()}) {
            const Estimate e = of(p, s);
            for (const LevelEstimate& level : e.levels) {
              EXPECT_LE(level.bound_bytes, level.bytes * (1 + 1e-12)) << level.level;
            }
            EXPECT_LE(e.dram_bound_bytes, e.memories[1].bytes * (1 + 1e-12));
          }
        }
      }
    }
  }
}

TEST(Estimate, TheTimeIsTheLargestTerm) {
  const Estimate e = of(make_problem(8192, 8192, 8192, Type::bf16), wgmma_pipeline_schedule());
  EXPECT_EQ(e.limiter, "arithmetic");
  EXPECT_DOUBLE_EQ(e.time_us, term(e, "arithmetic"));
  EXPECT_NEAR(e.time_us, 2 * 8192.0 * 8192 * 8192 / 989.4e6 / e.waves.efficiency, 1e-6);
  EXPECT_NEAR(e.waves.efficiency, 0.9697, 5e-5);
  // One row against a large matrix: 32 blocks leave most SMs idle, and each pads one row to 128.
  const Problem row = make_problem(1, 8192, 8192, Type::bf16);
  EXPECT_EQ(of(row, wgmma_pipeline_schedule()).limiter, "arithmetic");
  // Split four ways the SMs are busy, and the matrix is read once.
  Schedule split = wgmma_pipeline_schedule();
  split.split_k.ways = 4;
  EXPECT_EQ(of(row, split).limiter, "DRAM");
  EXPECT_NEAR(of(row, split).time_us, 8192.0 * 8192 * 2 / 4.8e6, 0.1);
}

TEST(Estimate, EpilogueOperandsMove) {
  Problem p = make_problem(256, 512, 128);
  const double plain = of(p, lanes_schedule("square_tile", 128, 8, 8, 8)).memories[1].bytes;
  p.epilogue = parse_epilogue("acc + bias[n] + residual[m,n]").value();
  set_contiguous_operands(p.epilogue, p.m, p.n);
  const double fused = of(p, lanes_schedule("square_tile", 128, 8, 8, 8)).memories[1].bytes;
  EXPECT_EQ(fused - plain, 4.0 * 512 + 4.0 * 256 * 512);
}

TEST(Estimate, ZeroDimensions) {
  for (const auto& [m, n, k] : {std::tuple{0, 64, 64}, {64, 0, 64}, {64, 64, 0}}) {
    const Estimate e = of(make_problem(m, n, k), lanes_schedule("square_tile", 128, 8, 8, 8));
    EXPECT_EQ(units(e, "ffma"), Count(0));
    EXPECT_EQ(e.levels[0].reads, Count(0));
    EXPECT_EQ(e.levels[0].bound_bytes, 0);
    EXPECT_EQ(e.tflops, 0);
    EXPECT_EQ(e.memories[1].bytes, 4.0 * m * n);  // with K = 0, D is still written
  }
}

TEST(Footprint, OfTheLadder) {
  const auto square = footprint(kCube, lanes_schedule("square_tile", 128, 8, 8, 8));
  EXPECT_EQ(square->block.threads, 256);
  EXPECT_EQ(square->block.shared_bytes, 8192);
  EXPECT_GT(square->block.registers_per_thread, 100);
  const Problem p = make_problem(1, 1, 1, Type::bf16);
  EXPECT_EQ(footprint(p, mma_schedule())->block.threads, 256);
  EXPECT_EQ(footprint(p, mma_schedule())->block.shared_bytes, 4 * 32 * 384 * 2);
  EXPECT_EQ(footprint(p, mma_schedule())->accumulators, 128);
  EXPECT_EQ(footprint(p, wgmma_pipeline_schedule())->block.threads, 384);
  EXPECT_EQ(footprint(p, wgmma_pipeline_schedule())->accumulators, 128);
}

std::string refusal(const Problem& p, const Schedule& s, const Machine& machine = test_h200()) {
  auto fits = check_fits(p, s, machine);
  EXPECT_FALSE(fits.has_value());
  return fits ? "" : fits.error().message;
}

TEST(CheckFits, SaysWhichLimitByHowMuchAndTheNearest) {
  const Problem p = make_problem(64, 64, 64, Type::bf16);
  Schedule deep = wgmma_pipeline_schedule();
  deep.stages = 5;
  EXPECT_THAT(refusal(p, deep),
              HasSubstr("it needs 278528 bytes of shared memory a block, 46080 over "
                        "the limit of 232448; the nearest that fits has 4 stages"));
  Schedule many = lanes_schedule("square_tile", 128, 8, 2, 2);
  EXPECT_THAT(refusal(make_problem(64, 64, 64), many),
              AllOf(HasSubstr("4096 threads a block, 3072 over the limit of 1024"),
                    HasSubstr("the nearest that fits has block.n = 32")));
  Schedule wide = lanes_schedule("square_tile", 128, 8, 16, 16);
  EXPECT_THAT(refusal(make_problem(64, 64, 64), wide),
              HasSubstr("312 registers a thread, 57 over"));
}

TEST(CheckFits, RowsThatABulkCopyCannotTake) {
  EXPECT_THAT(refusal(make_problem(64, 64, 1021, Type::bf16), wgmma_pipeline_schedule()),
              AllOf(HasSubstr("row stride of A is 1021 bf16 elements (2042 bytes)"),
                    HasSubstr("pad to 1024")));
}

TEST(CheckFits, SaysWhatTheMachineLacks) {
  const Problem p = make_problem(64, 64, 64, Type::bf16);
  Machine a100 = test_h200();
  a100.name = "a100", a100.architecture = "sm_80";
  EXPECT_THAT(refusal(p, wgmma_pipeline_schedule(), a100), HasSubstr("take schedule \"mma\""));
  EXPECT_EQ(check_fits(p, wgmma_pipeline_schedule(), a100).error().code,
            ErrorCode::missing_capability);
  Machine cpu;
  cpu.device = Device::cpu, cpu.name = "host";
  EXPECT_THAT(refusal(p, mma_schedule(), cpu),
              HasSubstr("is for a gpu, and machine \"host\" is a cpu"));
}

TEST(CheckFits, ArithmeticIsNamedNeverImplied) {
  EXPECT_THAT(refusal(kCube, mma_schedule()), HasSubstr("name a compute (tf32"));
  EXPECT_THAT(
      refusal(make_problem(8, 8, 8, Type::bf16), lanes_schedule("square_tile", 128, 8, 8, 8)),
      HasSubstr("take schedule \"mma\""));
  Problem tf32 = kCube;
  tf32.compute = Compute::f32_tf32x3;
  EXPECT_EQ(peak_use(tf32, mma_schedule())->peak, "tf32");
  EXPECT_EQ(peak_use(tf32, mma_schedule())->products, 3);
}

TEST(Estimate, CpuMachinesByCacheLevel) {
  Machine cpu;
  cpu.device = Device::cpu, cpu.name = "host", cpu.num_units = 2;
  cpu.memory = {{"dram", {}, {}, {20, "test"}, "device"},
                {"l3", {32e6, "test"}, {}, {80, "test"}, "device"},
                {"l2", {1e6, "test"}, {}, {}, "core"}};
  cpu.peaks = {{"f32", {}, {0.2, "test"}}};
  Schedule s;
  s.device = Device::cpu, s.name = s.kernel = "packed";
  s.tiles = {{Level::nc, 512, 512, 0, 1, 1},
             {Level::kc, 0, 0, 256, 1, 1},
             {Level::mc, 96, 0, 0, 1, 1},
             {Level::register_tile, 6, 16, 0, 1, 1}};
  const Estimate e = of(make_problem(1024, 1024, 1024), s, cpu);
  EXPECT_EQ(e.arithmetic, Arithmetic::cpu);
  EXPECT_EQ(e.levels[0].memory, "dram");
  EXPECT_NEAR(term(e, "arithmetic"), 2 * 1024.0 * 1024 * 1024 / 0.2e6, 1e-6);
  EXPECT_GT(term(e, "DRAM"), 0);
  EXPECT_LE(e.levels[0].bound_bytes, e.levels[0].bytes);
  cpu.peaks.clear();
  EXPECT_THAT(of(make_problem(64, 64, 64), s, cpu).notes,
              ::testing::Contains(HasSubstr("--measure")));
}

}  // namespace
}  // namespace tilewise
