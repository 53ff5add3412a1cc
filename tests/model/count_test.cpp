#include <gtest/gtest.h>

#include <cmath>

#include "tilewise/traffic.h"

namespace tilewise {
namespace {

Schedule nested(std::vector<Tile> tiles) {
  Schedule s;
  s.tiles = std::move(tiles);
  return s;
}
Tile tile(Level level, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t rm = 1,
          std::int64_t rn = 1) {
  return {level, m, n, k, rm, rn};
}
CountReport counted(std::int64_t m, std::int64_t n, std::int64_t k, const Schedule& s,
                    Type type = Type::f32) {
  const auto report = count_levels(make_problem(m, n, k, type), s);
  EXPECT_TRUE(report.has_value());
  return report.value_or(CountReport{});
}

TEST(Count, PrintsAnyLength) {
  EXPECT_EQ(Count(0).to_string(), "0");
  EXPECT_EQ((Count(1) * 1000000000000000000 * 1000000000000000000).to_string(),
            "1000000000000000000000000000000000000");
  Count largest = 1;
  for (int i = 0; i < 126; ++i) largest = largest * 2;
  largest = largest - 1 + largest;  // 2^127 - 1
  EXPECT_EQ(largest.to_string(), "170141183460469231731687303715884105727");
  EXPECT_TRUE((largest + 1).overflowed());
  EXPECT_TRUE((largest * 2).overflowed());
}

TEST(Count, RemembersAnOverflow) {
  const Count bad = Count(1) - 2;
  EXPECT_TRUE(bad.overflowed());
  EXPECT_TRUE((bad + 5).overflowed());
  EXPECT_TRUE((Count(0) * bad).overflowed());
  EXPECT_TRUE((Count(4) / 0).overflowed());
  EXPECT_TRUE(Count(-1).overflowed());
  EXPECT_FALSE(bad == bad);
  EXPECT_EQ(bad.to_string(), "overflow");
}

TEST(NumTiles, ClipsEveryLevelAtTheEdge) {
  const auto tiles = [](std::int64_t x, std::vector<std::int64_t> t, std::int64_t repeat = 1) {
    return num_tiles(x, t, repeat);
  };
  EXPECT_EQ(tiles(0, {4}), Count(0));
  EXPECT_EQ(tiles(10, {4}), Count(3));
  EXPECT_EQ(tiles(10, {4, 3}), Count(5));     // 4 = 3 + 1, 4 = 3 + 1, 2
  EXPECT_EQ(tiles(10, {64, 3}), Count(4));    // a tile larger than the matrix
  EXPECT_EQ(tiles(10, {4, 0, 3}), Count(5));  // a level that does not tile
  EXPECT_EQ(tiles(10, {0}), Count(1));
  EXPECT_EQ(tiles(10, {}), Count(1));
}

TEST(NumTiles, CountsThreadsThatStartInBounds) {
  const auto tiles = [](std::int64_t x, std::vector<std::int64_t> t, std::int64_t repeat) {
    return num_tiles(x, t, repeat);
  };
  // A block of 16 is 2 threads of 8 in two pieces of 4: thread 0 holds 0-3 and 8-11, thread 1 the
  // rest.
  EXPECT_EQ(tiles(16, {16, 8}, 2), Count(2));
  EXPECT_EQ(tiles(4, {16, 8}, 2), Count(1));
  EXPECT_EQ(tiles(5, {16, 8}, 2), Count(2));  // clipped to 5: thread 1 starts at 4
  EXPECT_EQ(tiles(5, {16, 8}, 1), Count(1));  // in one piece it starts at 8
  EXPECT_EQ(tiles(21, {16, 8}, 2), Count(4));
}

// facts of the subject: 2MNK, MK ceil(N/b) + KN ceil(M/b), 2MNK/t.
TEST(CountLevels, NaiveReadsEveryElementForEveryOutput) {
  const Schedule naive = nested({tile(Level::thread, 1, 1, 1)});
  const CountReport report = counted(4096, 4096, 4096, naive);
  const Count mnk = Count(4096) * 4096 * 4096;
  EXPECT_EQ(report.naive, mnk * 2);
  EXPECT_EQ(report.tiled, mnk * 2);
  EXPECT_DOUBLE_EQ(report.levels[0].intensity, 0.25);         // 1/s FLOP a byte in float32
  EXPECT_EQ((report.naive * 4).to_string(), "549755813888");  // 550 GB
  EXPECT_EQ((report.minimum * 4).to_string(), "134217728");   // 134 MB
}

TEST(CountLevels, SquareTilesDivideByTheirEdge) {
  const std::int64_t n = 4096;
  for (const std::int64_t b : {1, 2, 16, 32, 64, 128}) {
    const CountReport report = counted(n, n, n, nested({tile(Level::block, b, b, b)}));
    EXPECT_EQ(report.tiled, Count(2) * n * n * n / b);
    EXPECT_EQ(report.phases, n / b);
    EXPECT_EQ(report.blocks, Count(n / b) * (n / b));
  }
}

TEST(CountLevels, RaggedEdgesAreExact) {
  const auto traffic = matmul_traffic(1000, 999, 1001, 32);
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->tiled, Count(1000 * 1001 * 32 + 1001 * 999 * 32));
  EXPECT_EQ(traffic->naive, Count(2) * 1000 * 999 * 1001);
  EXPECT_EQ(traffic->minimum, Count(1000 * 1001 + 1001 * 999));
  EXPECT_FALSE(matmul_traffic(4, 4, 4, 0).has_value());
}

TEST(CountLevels, RegisterTileDividesSharedReads) {
  const Schedule s = nested({tile(Level::block, 128, 128, 8), tile(Level::thread, 8, 8, 1)});
  const CountReport report = counted(1024, 1024, 1024, s);
  const Count mnk = Count(1024) * 1024 * 1024;
  EXPECT_EQ(report.levels[0].reads, mnk * 2 / 128);
  EXPECT_EQ(report.levels[1].reads, mnk * 2 / 8);
}

TEST(CountLevels, ReuseTable) {
  const Schedule s = nested({tile(Level::block, 128, 96, 32), tile(Level::warp, 64, 48, 32),
                             tile(Level::thread, 8, 4, 1)});
  const CountReport report = counted(768, 768, 768, s);
  EXPECT_DOUBLE_EQ(report.levels[0].reuse_a, 96);  // an element of A serves a row of the tile
  EXPECT_DOUBLE_EQ(report.levels[0].reuse_b, 128);
  EXPECT_DOUBLE_EQ(report.levels[1].reuse_a, 48);
  EXPECT_DOUBLE_EQ(report.levels[1].reuse_b, 64);
  EXPECT_DOUBLE_EQ(report.levels[2].reuse_a, 4);
  EXPECT_DOUBLE_EQ(report.levels[2].reuse_b, 8);
}

TEST(CountLevels, BlockIntensityInBfloat16) {
  const auto intensity = [](std::int64_t m, std::int64_t n) {
    return counted(8192, 8192, 8192, nested({tile(Level::block, m, n, 64)}), Type::bf16)
        .levels[0]
        .intensity;
  };
  EXPECT_DOUBLE_EQ(intensity(128, 128), 64);
  EXPECT_NEAR(intensity(128, 256), 85.33, 0.01);
  // Width along K cancels.
  EXPECT_EQ(counted(512, 512, 512, nested({tile(Level::block, 64, 64, 8)})).tiled,
            counted(512, 512, 512, nested({tile(Level::block, 64, 64, 128)})).tiled);
}

TEST(CountLevels, HugeSizesStayExact) {
  const std::int64_t x = std::int64_t{1} << 31;
  const CountReport report = counted(x, x, x, nested({tile(Level::block, 128, 128, 8)}));
  EXPECT_EQ(report.naive.to_string(), "19807040628566084398385987584");  // 2^94
  EXPECT_EQ(report.tiled.to_string(), "154742504910672534362390528");    // 2^87
  const auto beyond = count_levels(make_problem(INT64_MAX, INT64_MAX, 4), Schedule{});
  ASSERT_FALSE(beyond.has_value());
  EXPECT_NE(beyond.error().message.find("2^127"), std::string::npos);
}

TEST(CountLevels, ZeroDimensionsReadNothing) {
  const Schedule s = nested({tile(Level::block, 32, 32, 32), tile(Level::thread, 4, 4, 1)});
  for (const auto& [m, n, k] : {std::tuple{0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {0, 0, 0}}) {
    const CountReport report = counted(m, n, k, s);
    EXPECT_EQ(report.naive, Count(0));
    EXPECT_EQ(report.minimum, Count(0));
    EXPECT_EQ(report.phases, 0);
    EXPECT_EQ(report.blocks, Count(m > 0 && n > 0 ? 1 : 0));
    for (const LevelCount& level : report.levels) EXPECT_EQ(level.reads, Count(0));
  }
}

TEST(CountLevels, SwappedOperandsTransposeTheTiles) {
  Schedule s = nested({tile(Level::block, 64, 16, 8)});
  const CountReport plain = counted(300, 200, 100, s);
  s.swap_ab = true;
  const CountReport swapped = counted(300, 200, 100, s);
  EXPECT_EQ(plain.levels[0].tiles_m, Count(5));
  EXPECT_EQ(swapped.levels[0].tiles_m, Count(19));
  EXPECT_EQ(swapped.levels[0].tiles_n, Count(4));
}

TEST(CountLevels, SharedMatrixOfABatchIsOneMatrix) {
  Problem p = make_problem(10, 20, 30);
  p.batch = 4;
  p.a.batch = 300;
  p.d.batch = 200;
  const auto report = count_levels(p, nested({tile(Level::block, 5, 5, 5)}));
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->minimum, Count(4 * 300 + 600));
  EXPECT_EQ(report->tiled, Count(4 * (300 * 4 + 600 * 2)));
}

TEST(CountLevels, CpuLevelsUseTheSameFormula) {
  Schedule s = nested({tile(Level::nc, 0, 480, 0), tile(Level::kc, 0, 0, 256),
                       tile(Level::mc, 144, 0, 0), tile(Level::register_tile, 6, 16, 1)});
  s.device = Device::cpu;
  const CountReport report = counted(1440, 960, 512, s);
  EXPECT_EQ(report.levels[0].reads_a, Count(1440) * 512 * 2);  // A once for each panel of B
  EXPECT_EQ(report.levels[0].reads_b, Count(512) * 960);       // B once
  EXPECT_EQ(report.levels[2].reads_b, Count(512) * 960 * 10);  // once for each block of A
  EXPECT_EQ(report.levels[3].reads_a, Count(1440) * 512 * 60);
}

TEST(CountTraffic, EpilogueAndSplitKAreRows) {
  Problem p = make_problem(64, 48, 100);
  p.epilogue = parse_epilogue("acc + bias[n] + residual[m,n]").value();
  Schedule s = nested({tile(Level::block, 32, 32, 32)});
  s.split_k.ways = 9;  // only four phases have work
  const auto traffic = count(p, s);
  ASSERT_TRUE(traffic.has_value());
  const auto value = [&](Operand o, Direction d) {
    return traffic->value("block", o, d, Quantity::elements);
  };
  EXPECT_EQ(value(Operand::epilogue, Direction::read), Count(48 + 64 * 48));
  EXPECT_EQ(value(Operand::d, Direction::write), Count(64 * 48));
  EXPECT_EQ(value(Operand::workspace, Direction::write), Count(4 * 64 * 48));
  EXPECT_EQ(value(Operand::workspace, Direction::read), Count(4 * 64 * 48));
  EXPECT_EQ(traffic->reads("block"), Count(64 * 100 * 2 + 100 * 48 * 2));
}

TEST(CountLevels, RefusesWhatIsInvalid) {
  const auto message = [](std::int64_t m, const Schedule& s) {
    const auto r = count_levels(make_problem(m, 4, 4), s);
    return r ? std::string() : r.error().message;
  };
  EXPECT_NE(message(-1, Schedule{}).find("m is -1"), std::string::npos);
  EXPECT_NE(message(4, nested({tile(Level::warp, 4, 4, 4), tile(Level::block, 4, 4, 4)}))
                .find("outside in"),
            std::string::npos);
  EXPECT_NE(message(4, nested({tile(Level::thread, 6, 6, 1, 4, 1)})).find("divide"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewise
