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
  EXPECT_NEAR(e.tflops / e.busy, 132 * 1.98e9 * 32 / 33 * 2 / 1e12, 1e-3);
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

// Threads without an output leave; a warp of which one lane has an output takes the time of 32.
TEST(Estimate, DirectKernelsTakeTheTimeOfWholeWarps) {
  const Problem p = make_problem(33, 65, 10);
  for (const char* kernel : {"naive_rows", "naive"}) {
    EXPECT_EQ(units(of(p, naive_schedule(kernel)), "ffma"), Count(33 * 65 * 10));
  }
  EXPECT_DOUBLE_EQ(of(p, naive_schedule("naive_rows")).padding_efficiency, 33.0 / 64);
  EXPECT_DOUBLE_EQ(of(p, naive_schedule("naive")).padding_efficiency, 65.0 / 96);
  EXPECT_EQ(footprint(p, naive_schedule("naive"))->block.threads, 512);
  EXPECT_EQ(footprint(p, naive_schedule("naive_rows"))->block.threads, 1024);
}

// The blocks that fill up a cluster run outside D: 3 rows of blocks are launched as 4.
TEST(Estimate, ClustersAreWhole) {
  const Problem p = make_problem(3 * 128, 256, 128, Type::bf16);
  const Estimate pairs = of(p, wgmma_pipeline_schedule());
  EXPECT_EQ(pairs.waves.tiles, Count(4));
  EXPECT_EQ(units(pairs, "wgmma"), Count(4 * 2 * 1 * 8));
  EXPECT_EQ(units(pairs, "bulk-copy bytes"), Count(4 * 128 * 128 * 2));
  EXPECT_DOUBLE_EQ(pairs.padding_efficiency, 0.75);
  Schedule single = wgmma_pipeline_schedule();
  single.cluster = {1, 1};
  EXPECT_EQ(of(p, single).waves.tiles, Count(3));
  EXPECT_DOUBLE_EQ(of(p, single).padding_efficiency, 1);
}

// Two blocks an SM: a wave of 132 of 264 slots leaves no SM idle.
TEST(Estimate, BusyIsByTheBusiestSm) {
  Schedule two = lanes_schedule("square_tile", 128, 8, 8, 8);
  const Estimate e = of(make_problem(128 * 12, 128 * 11, 64), two);
  ASSERT_EQ(e.occupancy.blocks_per_sm, 2);
  EXPECT_DOUBLE_EQ(e.waves.efficiency, 0.5);
  EXPECT_DOUBLE_EQ(e.busy, 1);
  EXPECT_DOUBLE_EQ(of(make_problem(128 * 12, 128 * 12, 64), two).busy, 144.0 / 264);
}

TEST(Estimate, ASplitKReadsWhatItReadBefore) {
  const Problem p = make_problem(256, 512, 1000, Type::bf16);
  const Estimate whole = of(p, mma_schedule());
  for (const int ways : {2, 3, 7}) {
    Schedule s = mma_schedule();
    s.split_k.ways = ways;
    const Estimate split = of(p, s);
    for (const char* level : {"sm", "l2"}) {
      EXPECT_EQ(split.traffic.value(level, Operand::a, Direction::read, Quantity::bytes),
                whole.traffic.value(level, Operand::a, Direction::read, Quantity::bytes));
    }
    EXPECT_EQ(units(split, "mma"), units(whole, "mma"));
    EXPECT_GT(split.busy, whole.busy);
  }
}

// 2 phases: a split in 16 is one in 2, and 3 phases in 2 ways are as long as 4.
TEST(Estimate, WaysWithoutAPhaseDoNothing) {
  Schedule s = mma_schedule();
  s.split_k.ways = 2;
  const Problem p = make_problem(256, 512, 64, Type::bf16);
  const Estimate two = of(p, s);
  s.split_k.ways = 16;
  const Estimate sixteen = of(p, s);
  EXPECT_EQ(sixteen.waves.tiles, two.waves.tiles);
  EXPECT_EQ(sixteen.time_us, two.time_us);
  EXPECT_THAT(sixteen.notes, ::testing::Contains(HasSubstr("14 of the 16 ways")));
  s.split_k.ways = 2;
  EXPECT_DOUBLE_EQ(of(make_problem(256, 512, 96, Type::bf16), s).busy, 8.0 / 132 * 0.75);
}

TEST(Estimate, StreamKCannotShareMoreThanItsPhases) {
  Schedule s = mma_schedule();
  s.stream_k = true;
  EXPECT_DOUBLE_EQ(of(make_problem(128, 256, 96, Type::bf16), s).busy, 3.0 / 132);
  const Estimate e = of(make_problem(1024, 1024, 8192, Type::bf16), s);
  EXPECT_GT(e.busy, 0.98);
  // 32 tiles of 256 phases in 132 ranges: 131 seams, of which 3 lie between tiles (132 and 32 have
  // the divisor 4). Each costs a tile's sums, written and read.
  EXPECT_EQ(units(e, "sums"), Count(128 * 128 * 256));
}

// Each product of a batch is read; a matrix that the batch shares is read as the L2 allows.
TEST(Estimate, BatchesAreCounted) {
  Problem p = make_problem(256, 256, 512, Type::bf16);
  const Estimate one = of(p, mma_schedule());
  p.batch = 6;
  p.a.batch = p.m * p.k, p.b.batch = p.k * p.n, p.d.batch = p.c.batch = p.m * p.n;
  const Estimate six = of(p, mma_schedule());
  for (const char* unit : {"mma", "sectors", "bytes delivered", "bytes looked up"}) {
    EXPECT_EQ(units(six, unit), Count(6) * units(one, unit)) << unit;
  }
  EXPECT_DOUBLE_EQ(six.memories[1].bytes, 6 * one.memories[1].bytes);
  EXPECT_EQ(six.waves.tiles, Count(6) * one.waves.tiles);
  p.b.batch = 0;
  const Estimate shared = of(p, mma_schedule());
  EXPECT_DOUBLE_EQ(shared.memories[1].bytes, six.memories[1].bytes - 5.0 * 512 * 256 * 2);
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
  EXPECT_NEAR(e.time_us, 2 * 8192.0 * 8192 * 8192 / 989.4e6 / e.busy, 1e-6);
  EXPECT_NEAR(e.waves.efficiency, 0.9697, 5e-5);
  // One row against a large matrix: 32 blocks leave most SMs idle, and each pads one row to 128.
  const Problem row = make_problem(1, 8192, 8192, Type::bf16);
  EXPECT_EQ(of(row, wgmma_pipeline_schedule()).limiter, "arithmetic");
  // Split four ways the SMs are busy, and the matrix is read once.
  Schedule split = wgmma_pipeline_schedule();
  split.split_k.ways = 4;
  EXPECT_EQ(of(row, split).limiter, "arithmetic");  // every second block of a cluster is padding
  split.cluster = {1, 1};
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
  EXPECT_EQ(footprint(p, mma_schedule())->block.shared_bytes, 4 * 32 * 384 * 2 + 1024);
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
              HasSubstr("it needs 278616 bytes of shared memory a block, 46168 over "
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
  Schedule emulated = mma_schedule();
  emulated.compute = tf32.compute = Compute::f32_tf32x3;
  EXPECT_EQ(peak_use(tf32, emulated)->peak, "tf32");
  EXPECT_EQ(peak_use(tf32, emulated)->products, 3);
}

// A schedule serves the compute that it names, and no other.
TEST(CheckFits, TheComputeIsTheSchedules) {
  Problem tf32 = kCube;
  tf32.compute = Compute::tf32;
  EXPECT_THAT(refusal(tf32, mma_schedule()),
              AllOf(HasSubstr("compute is tf32, and schedule \"mma\" computes f32"),
                    HasSubstr("take schedule \"mma_tf32\"")));
  EXPECT_THAT(refusal(tf32, lanes_schedule("square_tile", 128, 8, 8, 8)), HasSubstr("mma_tf32"));
  Schedule s = mma_schedule();
  s.compute = Compute::tf32;
  s.tiles[2].k = 8;
  EXPECT_TRUE(check_fits(tf32, s, test_h200()).has_value());
  EXPECT_THAT(refusal(kCube, s), HasSubstr("take schedule \"square_tile\""));
  Problem half = make_problem(64, 64, 64, Type::bf16);
  EXPECT_THAT(refusal(half, s), HasSubstr("take schedule \"mma\""));
  half.compute = Compute::tf32;
  EXPECT_THAT(refusal(half, s), HasSubstr("operands of bf16 are multiplied as they are"));
  Problem wide = make_problem(64, 64, 64, Type::f64);
  EXPECT_THAT(refusal(wide, lanes_schedule("square_tile", 128, 8, 8, 8)),
              HasSubstr("compute is f64, and schedule \"square_tile\" computes f32"));
  wide.compute = Compute::f32;
  EXPECT_THAT(refusal(wide, lanes_schedule("square_tile", 128, 8, 8, 8)),
              HasSubstr("take compute f64"));
}

TEST(CheckFits, TheInstructionIsOneOfTheTypes) {
  Schedule s = mma_schedule();
  s.tiles[2].k = 4;
  EXPECT_THAT(refusal(make_problem(64, 64, 64, Type::bf16), s),
              HasSubstr("is m16n8k4, and mma.sync of bf16 is m16n8k16 or m16n8k8"));
  Schedule wide = wgmma_pipeline_schedule();
  wide.tiles[1].k = 32;
  EXPECT_THAT(refusal(make_problem(64, 64, 64, Type::bf16), wide),
              HasSubstr("wgmma of bf16 is m64nNk16"));
}

// wgmma reads shared tiles of 8 and of 32 bits along K alone.
TEST(CheckFits, LayoutsThatWgmmaCannotRead) {
  Schedule s = wgmma_pipeline_schedule();
  s.tiles[0].k = 128, s.tiles[1].k = 32;
  Problem p = make_problem(256, 256, 256, Type::f8e4m3);
  EXPECT_THAT(refusal(p, s), HasSubstr("B is f8e4m3 and not contiguous along k"));
  p.b = {1, 256, 0};
  EXPECT_TRUE(check_fits(p, s, test_h200()).has_value());
}

TEST(CheckFits, NoKernelSwapsItsOperands) {
  Schedule s = mma_schedule();
  s.swap_ab = true;
  EXPECT_THAT(refusal(make_problem(64, 64, 64, Type::bf16), s), HasSubstr("swap_ab is true"));
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
