// Units and issued instructions of the rungs: against figures worked out by hand, and against the
// plain sum over every tile and phase.
#include "tilewise/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/float_tile_units.h"
#include "model/ladder_schedules.h"
#include "model/operand_tile_units.h"
#include "model/tile_steps.h"

namespace tilewise {
namespace {

using ::testing::HasSubstr;

std::string value(const Problem& p, const Schedule& s, const char* level, const char* unit,
                  Operand operand, Direction direction = Direction::read) {
  const auto traffic = count_units(p, s);
  if (!traffic) return traffic.error().message;
  for (const TrafficRow& row : traffic->rows) {
    if (row.level == level && row.unit == unit && row.operand == operand &&
        row.direction == direction) {
      return row.value.to_string();
    }
  }
  return "no row";
}

TEST(TileSteps, CoverEveryTileOnce) {
  for (const std::int64_t extent : {1, 7, 8, 9, 64, 333, 4096}) {
    for (const std::int64_t tile : {1, 8, 32}) {
      for (const std::int64_t stride : {2, 4, 30, 66, 1332}) {
        std::map<std::pair<std::int64_t, int>, std::int64_t> expected;
        for (std::int64_t first = 0; first < extent; first += tile) {
          ++expected[{first * stride % kSectorBytes,
                      static_cast<int>(std::min(tile, extent - first))}];
        }
        std::map<std::pair<std::int64_t, int>, std::int64_t> got;
        for (const TileStep& step : tile_steps(extent, tile, stride)) {
          got[{step.offset_bytes, step.left}] += std::stoll(step.times.to_string());
        }
        EXPECT_EQ(got, expected) << extent << " " << tile << " " << stride;
      }
    }
  }
}

TEST(Units, NaiveKernels) {
  // By rows: 32 rows of A a warp, 64 elements apart, and one element of B. By columns: one of A and
  // 32 neighbours of B.
  const Problem p = make_problem(64, 64, 64);
  const Schedule rows = naive_schedule("naive_rows"), columns = naive_schedule("naive");
  EXPECT_EQ(value(p, rows, "thread", "ffma", Operand::d, Direction::write), "262144");
  EXPECT_EQ(value(p, rows, "global", "sectors", Operand::a), "262144");  // 2 * 64 * 64 warps * 32
  EXPECT_EQ(value(p, rows, "global", "sectors", Operand::b), "8192");
  EXPECT_EQ(value(p, columns, "global", "sectors", Operand::a), "8192");
  EXPECT_EQ(value(p, columns, "global", "sectors", Operand::b), "32768");
  // 33 columns: a second warp of one lane, and rows that start at every multiple of 4 bytes.
  const Problem ragged = make_problem(1, 33, 8);
  EXPECT_EQ(value(ragged, columns, "global", "sectors", Operand::a), "16");
  EXPECT_EQ(value(ragged, columns, "global", "sectors", Operand::b), "47");  // 4 + 7 * 5 + 8 * 1
  EXPECT_EQ(value(ragged, columns, "thread", "ffma", Operand::d, Direction::write), "264");
}

TEST(Units, SharedTileReadsTwoWavefrontsAProduct) {
  const Problem p = make_problem(64, 64, 64);
  const Schedule s = find_schedule("shared_tile").value();
  // 4 blocks, 2 phases, 32 warps, 32 steps: A one word for the warp, B 32 neighbours.
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a), "8192");
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b), "8192");
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a, Direction::write), "256");
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::a), "1024");  // 4 * 2 * 32 rows * 4
  // Padding is multiplied too.
  EXPECT_EQ(value(make_problem(33, 1, 33), s, "thread", "ffma", Operand::d, Direction::write),
            "131072");  // 2 blocks * 2 phases * 32^3
}

TEST(Units, SquareTileHasItsConflicts) {
  // The rung's own statement: 4-way conflicts on B, none on A.
  const Problem p = make_problem(128, 128, 8);
  const Schedule s = find_schedule("square_tile").value();
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a), "512");   // 8 warps * 8 k * 8
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b), "2048");  // times 4
  const Schedule merged = find_schedule("square_tile_merged").value();
  EXPECT_EQ(value(p, merged, "shared", "wavefronts", Operand::b), "no row");
  EXPECT_EQ(value(p, merged, "thread", "ffma", Operand::d, Direction::write), "131072");
}

TEST(Units, ConflictFreeReadsHaveNoConflict) {
  const Problem p = make_problem(128, 128, 8);
  // 16 lanes along n, 2 along m; two 16-byte pieces each: A 2 addresses, B 16 neighbours.
  for (const char* name : {"conflict_free", "conflict_free_swizzle", "double_buffer"}) {
    const Schedule s = find_schedule(name).value();
    EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b), "512") << name;  // 8 * 8 * 2 * 4
  }
}

TEST(Units, WarpTilesHalveTheWavefronts) {
  const Problem p = make_problem(128, 128, 16);
  const Schedule s = find_schedule("warp_tile").value();
  // 8 warps, 16 steps, 2 pieces: each read of 16 bytes is shared by pairs, so it takes two.
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a), "512");
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b), "512");
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::a), "256");  // 128 rows of 64 bytes
  // 16 rows of 512 bytes, four lines each; every second row is shifted by 16 bytes in its sectors.
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::b), "288");
}

TEST(Units, MmaCountsPaddingAndTheFragmentsAhead) {
  const Problem p = make_problem(128, 256, 64, Type::bf16);
  const Schedule s = find_schedule("mma").value();
  EXPECT_EQ(value(p, s, "warp", "hmma", Operand::d, Direction::write), "1024");  // 8 * 32 * 4
  EXPECT_EQ(
      value(make_problem(1, 1, 65, Type::bf16), s, "warp", "hmma", Operand::d, Direction::write),
      "2048");
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::a), "512");
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::b), "1024");
  // 8 warps, 4 steps and one ahead, 4 fragments of 4 wavefronts.
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a), "640");
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b), "640");
  // 4 tiles are written, three of them zeros past the end: 128 lines of 128 bytes each, twice.
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a, Direction::write), "1024");
}

// What a profiler counted on an H200 (bench/results/h200/counters.json): A and B together.
TEST(Units, AsynchronousWritesAreThoseThatWereCounted) {
  const auto writes = [](const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
    const Schedule s = find_schedule(name).value();
    const bool half = find_tile(s, Level::instruction) != nullptr && s.compute == Compute::f32;
    Problem p = make_problem(m, n, k, half ? Type::bf16 : Type::f32);
    p.compute = s.compute;
    std::int64_t sum = 0;
    for (const Operand operand : {Operand::a, Operand::b}) {
      sum += std::stoll(value(p, s, "shared", "wavefronts", operand, Direction::write));
    }
    return sum;
  };
  EXPECT_EQ(writes("double_buffer", 512, 768, 256), 162816);
  EXPECT_EQ(writes("double_buffer", 331, 265, 141), 14601);
  EXPECT_EQ(writes("warp_tile", 512, 768, 256), 162816);
  EXPECT_EQ(writes("warp_tile", 331, 265, 141), 14601);
  EXPECT_EQ(writes("tuned_f32", 512, 768, 256), 178176);
  EXPECT_EQ(writes("tuned_f32", 331, 265, 141), 20102);
  EXPECT_EQ(writes("mma", 512, 768, 256), 64512);
  EXPECT_EQ(writes("mma", 333, 264, 144), 46080);
  EXPECT_EQ(writes("mma_tf32", 512, 768, 256), 135168);
  EXPECT_EQ(writes("mma_tf32", 333, 264, 144), 48384);
}

// Each distinct tile once, as against every tile: offsets in a line, and which blocks are whole.
TEST(Units, AsynchronousWritesAreTheSumOverEveryTile) {
  const Schedule s = find_schedule("double_buffer").value();
  for (const auto& [m, n, k] : {std::tuple{300, 384, 56}, std::tuple{256, 261, 21}}) {
    const Problem p = make_problem(m, n, k);
    const CopyLayout layout{CopyMode::scalar_k, 8, 128, 256};
    const SharedTile tile{8, 128, 4};
    const FloatOperand operand{4, 4 * p.a.row};
    std::int64_t sum = 0;
    for (int i = 0; i < m; i += 128) {
      for (int j = 0; j < n; j += 128) {
        for (int first = 0; first < k; first += 8) {
          const int m_left = std::min(m - i, 128), k_left = std::min(k - first, 8);
          const bool whole = m_left == 128 && k_left == 8 && j + 128 <= n;
          sum += async_wavefronts(layout, tile, operand, 4 * (i * p.a.row + first), k_left, m_left,
                                  whole);
        }
      }
    }
    EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a, Direction::write),
              std::to_string(sum));
  }
  // B by 16 bytes: rows of A's edge are copied with a size.
  const Problem p = make_problem(300, 384, 56);
  const CopyLayout layout{CopyMode::vector_x, 8, 128, 256};
  const SharedTile tile{8, 128, 4};
  std::int64_t sum = 0;
  for (int i = 0; i < 300; i += 128) {
    for (int j = 0; j < 384; j += 128) {
      for (int first = 0; first < 56; first += 8) {
        sum += async_wavefronts(layout, tile, {4 * p.b.row, 4}, 4 * (first * p.b.row + j), 8, 128,
                                i + 128 <= 300);
      }
    }
  }
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b, Direction::write), std::to_string(sum));
}

TEST(Units, SaysWhichWritesItCannotCount) {
  const Schedule s = find_schedule("double_buffer").value();
  const Problem p = make_problem(128, 132, 64);
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::b, Direction::write), "no row");
  const auto traffic = count_units(p, s);
  ASSERT_TRUE(traffic.has_value());
  ASSERT_EQ(traffic->not_counted.size(), 1u);
  EXPECT_THAT(traffic->not_counted[0], HasSubstr("writes of B: 16-byte asynchronous copies"));
  EXPECT_TRUE(count_units(make_problem(128, 128, 64), s)->not_counted.empty());
}

TEST(Units, WmmaLoadsEveryTileForItself) {
  const Problem p = make_problem(64, 64, 32, Type::bf16);
  const Schedule s = find_schedule("wmma").value();
  EXPECT_EQ(value(p, s, "warp", "hmma", Operand::d, Direction::write), "64");  // 16 * 2 * 2
  // 32 tiles, 4 loads of 8 half lines.
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::a), "1024");
  EXPECT_EQ(value(p, s, "shared", "wavefronts", Operand::a), "no row");
  const Problem edge = make_problem(17, 16, 16, Type::bf16);
  EXPECT_EQ(value(edge, s, "warp", "hmma", Operand::d, Direction::write), "4");
  // One row is left: its 16 elements lie in one sector.
  EXPECT_EQ(value(edge, s, "global", "sectors", Operand::a), "33");
}

TEST(Units, WgmmaCountsWarpsAndWholeClusters) {
  Schedule s = find_schedule("wgmma_pipeline").value();
  s.cluster = {.m = 2, .n = 1};
  const Problem p = make_problem(8192, 8192, 8192, Type::bf16);
  // What the counter showed for another kernel of this tile: 4 M N K / (64 256 16).
  EXPECT_EQ(value(p, s, "warpgroup", "gmma", Operand::d, Direction::write), "8388608");
  EXPECT_EQ(value(make_problem(1, 1, 1, Type::bf16), s, "warpgroup", "gmma", Operand::d,
                  Direction::write),
            "64");  // 2 blocks * 2 * 4 * 4 warps
  EXPECT_EQ(value(p, s, "global", "sectors", Operand::a), "no row");
}

TEST(Units, CopiesOfPartialChunksGoByElements) {
  // Rung 06, A along k with 16-byte rows: 6 of 8 elements exist, one chunk and two elements.
  const CopyLayout layout{CopyMode::vector_k, 8, 128, 256};
  const FloatOperand operand{4, 32};
  EXPECT_EQ(tile_copy_sectors(layout, operand, 0, 8, 128), 128);
  // Each warp: 16 rows; full chunks 16 sectors, then element 0 and element 1 of the second chunk.
  EXPECT_EQ(tile_copy_sectors(layout, operand, 0, 6, 128), 8 * (16 + 16 + 16));
  EXPECT_EQ(tile_copy_sectors(layout, operand, 0, 8, 1), 1);
  EXPECT_EQ(tile_copy_sectors(layout, operand, 0, 0, 128), 0);
}

TEST(Units, NothingIsCountedWhereNothingRuns) {
  const auto traffic = count_units(make_problem(0, 5, 7), find_schedule("shared_tile").value());
  ASSERT_TRUE(traffic.has_value());
  EXPECT_TRUE(traffic->rows.empty());
}

// A level removed, and each extent of each tile as a kernel could not run it: refused or counted.
TEST(Units, EveryRungRefusesTilesThatItCannotRun) {
  const Problem p = make_problem(100, 130, 70);
  for (const Schedule& named : named_schedules()) {
    if (named.device != Device::gpu) continue;
    for (std::size_t i = 0; i < named.tiles.size(); ++i) {
      std::vector<Schedule> changed(1, named);
      changed.back().tiles.erase(changed.back().tiles.begin() + static_cast<std::ptrdiff_t>(i));
      for (const auto extent : {&Tile::m, &Tile::n, &Tile::k}) {
        for (const std::int64_t value : {0, 1, 3, 1 << 20}) {
          changed.push_back(named);
          changed.back().tiles[i].*extent = value;
          changed.back().tiles[i].repeat_m = changed.back().tiles[i].repeat_n = 1;
        }
      }
      for (const Schedule& s : changed) {
        const auto traffic = count_units(p, s);
        EXPECT_TRUE(traffic || traffic.error().code == ErrorCode::bad_request) << to_json(s);
      }
    }
  }
  Schedule s = find_schedule("square_tile").value();
  s.tiles.back().m = 0;
  EXPECT_THAT(count_units(p, s).error().message, HasSubstr("thread tile is 0 x 8"));
}

TEST(Units, RefusalsNameTheCause) {
  Schedule s = find_schedule("tuned_f32").value();
  s.split_k.ways = 4;
  EXPECT_THAT(count_units(make_problem(64, 64, 64), s).error().message, HasSubstr("splits K"));
  s = find_schedule("shared_tile").value();
  s.kernel = "other";
  EXPECT_THAT(count_units(make_problem(64, 64, 64), s).error().message,
              HasSubstr("kernel \"other\" is none"));
  Problem p = make_problem(64, 64, 65);
  p.batch = 2;
  p.a.batch = 64 * 65 + 1;
  p.b.batch = 64 * 65;
  p.c.batch = p.d.batch = 64 * 64;
  EXPECT_THAT(count_units(p, find_schedule("shared_tile").value()).error().message,
              HasSubstr("batch stride of A"));
}

}  // namespace
}  // namespace tilewise
