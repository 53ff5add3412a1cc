#include "tilewise/access.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "parts/swizzle.cuh"

namespace tilewise {
namespace {

TEST(GlobalAccess, Coalesced) {
  const auto row = warp_access(4, [](int lane) { return 4 * lane; });
  EXPECT_EQ(global_access(row).sectors, 4);
  EXPECT_EQ(global_access(row).lines, 1);
  EXPECT_EQ(global_access(row).bytes_used, 128);
  const auto wide = warp_access(16, [](int lane) { return 16 * lane; });
  EXPECT_EQ(global_access(wide).sectors, 16);
  EXPECT_EQ(global_access(wide).lines, 4);
}

TEST(GlobalAccess, StridedBroadcastAndMisaligned) {
  const auto strided = warp_access(4, [](int lane) { return 16384 * lane; });
  EXPECT_EQ(global_access(strided).sectors, 32);
  EXPECT_EQ(global_access(strided).bytes_used, 128);
  EXPECT_EQ(global_access(warp_access(4, [](int) { return 64; })).sectors, 1);
  EXPECT_EQ(global_access(warp_access(4, [](int lane) { return 4 * lane + 4; })).sectors, 5);
}

TEST(GlobalAccess, InactiveLanesCostNothing) {
  const auto half =
      warp_access(4, [](int lane) { return lane < 16 ? 4 * lane : WarpAccess::kInactive; });
  EXPECT_EQ(global_access(half).sectors, 2);
  EXPECT_EQ(global_access(warp_access(4, [](int) { return -1; })).sectors, 0);
}

TEST(SharedAccess, FourByteLanes) {
  auto conflict = [](int stride) {
    return shared_access(warp_access(4, [=](int lane) { return 4 * stride * lane; })).wavefronts;
  };
  EXPECT_EQ(conflict(1), 1);
  EXPECT_EQ(conflict(2), 2);
  EXPECT_EQ(conflict(32), 32);
  EXPECT_EQ(conflict(33), 1);
  EXPECT_EQ(conflict(0), 1);  // a broadcast
  const auto rows = shared_access(warp_access(4, [](int lane) { return 128 * (lane / 16); }));
  EXPECT_EQ(rows.wavefronts, 2);  // two words of one bank
  EXPECT_EQ(rows.conflicts, 1);
}

TEST(SharedAccess, TwoByteLanesShareAWord) {
  EXPECT_EQ(shared_access(warp_access(2, [](int lane) { return 2 * lane; })).wavefronts, 1);
}

TEST(SharedAccess, WideLanesRunInPhases) {
  const auto half = shared_access(warp_access(8, [](int lane) { return 8 * lane; }));
  EXPECT_EQ(half.wavefronts, 2);
  EXPECT_EQ(half.conflicts, 0);
  const auto quarter = shared_access(warp_access(16, [](int lane) { return 16 * lane; }));
  EXPECT_EQ(quarter.wavefronts, 4);
  EXPECT_EQ(quarter.conflicts, 0);
  // Eight lanes 128 bytes apart fall on the same four banks.
  const auto column = shared_access(warp_access(16, [](int lane) { return 128 * lane; }));
  EXPECT_EQ(column.wavefronts, 32);
  EXPECT_EQ(column.conflicts, 28);
}

TEST(SharedAccess, PairsThatShareAnAddressHalveThePhases) {
  EXPECT_EQ(shared_access(warp_access(16, [](int lane) { return 16 * (lane / 2); })).wavefronts, 2);
  EXPECT_EQ(shared_access(warp_access(8, [](int lane) { return 8 * (lane / 2); })).wavefronts, 1);
  EXPECT_EQ(shared_access(warp_access(16, [](int) { return 0; })).wavefronts, 2);
}

// As a profiler counted them (bench/results/h200/counters.json, patterns).
TEST(SharedStore, LanesWithOneAddressStillTakeTurns) {
  EXPECT_EQ(shared_store(warp_access(16, [](int) { return 0; })).wavefronts, 4);
  EXPECT_EQ(shared_store(warp_access(16, [](int lane) { return 16 * (lane / 2); })).wavefronts, 4);
  EXPECT_EQ(shared_store(warp_access(16, [](int lane) { return 32 * lane; })).wavefronts, 8);
  EXPECT_EQ(shared_store(warp_access(4, [](int) { return 0; })).wavefronts, 1);
}

TEST(CopySectors, CountTwiceWhereRowsAreShiftedByHalfASector) {
  const auto from = warp_access(16, [](int lane) { return 16 * lane; });
  const auto to = [](int first) {
    return warp_access(16, [=](int lane) { return first + 16 * lane; });
  };
  EXPECT_EQ(copy_sectors(from, to(0)), 16);
  EXPECT_EQ(copy_sectors(from, to(32)), 16);
  EXPECT_EQ(copy_sectors(from, to(16)), 20);  // each of four lines goes to five pieces
  const auto swizzled =
      warp_access(16, [](int lane) { return swizzle(128, lane / 8 * 128 + lane % 8 * 16); });
  EXPECT_EQ(copy_sectors(from, swizzled), 16);
  EXPECT_EQ(copy_sectors(warp_access(16, [](int) { return -1; }), to(0)), 0);
}

// Copies of one warp as a profiler counted them on an H200
// (bench/results/h200/copy_wavefronts.json).
using LaneOffset = std::function<std::int64_t(int)>;

// Rows of `per` lanes, each `width` bytes beside the one before.
LaneOffset rows(int per, int pitch, int width, int base = 0) {
  return [=](int lane) { return base + lane / per * pitch + lane % per * width; };
}

TEST(CopyWavefronts, Of16BytesAreAsCounted) {
  const LaneOffset contiguous = rows(32, 0, 16);
  const LaneOffset swizzled = [](int lane) { return swizzle(128, lane / 8 * 128 + lane % 8 * 16); };
  struct Counted {
    const char* name;
    LaneOffset from, to;
    int bypass, bypass_sized, cached;
  };
  const std::vector<Counted> counted = {
      {"contiguous", contiguous, contiguous, 4, 8, 4},
      {"from 16 bytes on", rows(32, 0, 16, 16), contiguous, 12, 16, 4},
      {"from 64 bytes on", rows(32, 0, 16, 64), contiguous, 8, 12, 4},
      {"4 rows, pitch 512", rows(8, 512, 16), contiguous, 4, 8, 4},
      {"the same, swizzled", rows(8, 512, 16), swizzled, 4, 8, 4},
      {"4 rows, pitch 1536, swizzled", rows(8, 1536, 16), swizzled, 4, 8, 4},
      {"4 rows, pitch 528, swizzled", rows(8, 528, 16), swizzled, 10, 14, 4},
      {"4 rows, pitch 544, swizzled", rows(8, 544, 16), swizzled, 7, 11, 4},
      {"8 rows", rows(4, 512, 16), contiguous, 8, 16, 8},
      {"2 rows", rows(16, 1536, 16), contiguous, 4, 8, 4},
      {"2 rows to padded rows", rows(16, 1536, 16), rows(16, 528, 16), 8, 12, 4},
      {"32 rows", rows(1, 512, 16), contiguous, 32, 64, 32},
      {"16 rows", rows(2, 512, 16), contiguous, 16, 32, 16},
      {"to a column", contiguous, rows(1, 128, 16), 32, 64, 32},
      {"to rows of 1024", contiguous, rows(8, 1024, 16), 4, 8, 4},
      {"one address", [](int) { return 0; }, contiguous, 32, 64, 32},
      {"reversed", contiguous, [](int lane) { return 16 * (31 - lane); }, 4, 8, 4},
  };
  for (const Counted& c : counted) {
    const auto from = warp_access(16, c.from), to = warp_access(16, c.to);
    EXPECT_EQ(copy_wavefronts(CopyForm::bypass, from, to), c.bypass) << c.name;
    EXPECT_EQ(copy_wavefronts(CopyForm::bypass_sized, from, to), c.bypass_sized) << c.name;
    EXPECT_EQ(copy_wavefronts(CopyForm::cached, from, to), c.cached) << c.name;
  }
}

// The one pattern of the table whose count is not what the rule says: 32 and 40.
TEST(CopyWavefronts, OfOnePatternAreNotKnown) {
  const auto from = warp_access(16, rows(32, 0, 16)), to = warp_access(16, rows(1, 32, 16));
  EXPECT_EQ(copy_wavefronts(CopyForm::bypass, from, to), 16);
  EXPECT_EQ(copy_wavefronts(CopyForm::cached, from, to), 8);
}

TEST(CopyWavefronts, Of4BytesAreAsCounted) {
  const LaneOffset contiguous = rows(32, 0, 4);
  struct Counted {
    const char* name;
    LaneOffset from, to;
    int wavefronts;
  };
  const LaneOffset none = [](int) { return WarpAccess::kInactive; };
  const LaneOffset upper_half = [](int lane) { return lane < 16 ? 4 * lane : -1; };
  const std::vector<Counted> counted = {
      {"contiguous", contiguous, contiguous, 1},
      {"from 4 bytes on", rows(32, 0, 4, 4), contiguous, 1},
      {"from 64 bytes on", rows(32, 0, 4, 64), contiguous, 1},
      {"2 rows", rows(16, 512, 4), contiguous, 2},
      {"4 rows, pitch 512", rows(8, 512, 4), contiguous, 4},
      {"4 rows, pitch 516", rows(8, 516, 4), contiguous, 4},
      {"8 rows", rows(4, 512, 4), contiguous, 8},
      {"16 rows", rows(2, 512, 4), contiguous, 16},
      {"32 rows", rows(1, 512, 4), contiguous, 32},
      {"transposed, pitch 528", rows(8, 512, 4),
       [](int lane) { return lane % 8 * 528 + lane / 8 * 4; }, 4},
      {"transposed, pitch 512", rows(8, 512, 4),
       [](int lane) { return lane % 8 * 512 + lane / 8 * 4; }, 11},
      {"stride 8", contiguous, rows(1, 8, 4), 2},
      {"stride 128", contiguous, rows(1, 128, 4), 32},
      {"one address", [](int) { return 0; }, contiguous, 32},
      {"upper half zeros", upper_half, contiguous, 1},
      {"all zeros", none, contiguous, 1},
      {"2 of 4 rows zeros", [](int lane) { return lane < 16 ? lane / 8 * 512 + lane % 8 * 4 : -1; },
       contiguous, 2},
      {"half of each row zeros",
       [](int lane) { return lane % 8 < 4 ? lane / 8 * 512 + lane % 8 * 4 : -1; }, contiguous, 4},
      {"all but one zeros", [](int lane) { return lane == 0 ? 0 : -1; }, contiguous, 1},
  };
  for (const Counted& c : counted) {
    EXPECT_EQ(copy_wavefronts(CopyForm::cached, warp_access(4, c.from), warp_access(4, c.to)),
              c.wavefronts)
        << c.name;
  }
}

TEST(SharedAccess, SwizzledColumnsAreFree) {
  // The eight rows of one 8 x 8 matrix of ldmatrix, 128-byte rows of bf16.
  for (int chunk = 0; chunk < 8; ++chunk) {
    const auto plain = warp_access(16, [&](int lane) { return lane * 128 + chunk * 16; });
    const auto swizzled =
        warp_access(16, [&](int lane) { return shared_offset(lane, chunk * 16, 128, 0, 128); });
    EXPECT_EQ(shared_access(plain).conflicts, 28);
    EXPECT_EQ(shared_access(swizzled).conflicts, 0);
  }
}

TEST(TileSectors, CountMisalignedRowSegments) {
  EXPECT_EQ(tile_sectors(4, 64, 0, 4096), 8);
  EXPECT_EQ(tile_sectors(1, 64, 16, 4096), 3);
  // 4092 floats a row: rows start at every multiple of 16 bytes.
  EXPECT_EQ(tile_sectors(2, 32, 0, 4092 * 4), 1 + 2);
  std::int64_t sum = 0;
  for (int row = 0; row < 77; ++row) sum += tile_sectors(1, 50, 6 + row * 34, 0);
  EXPECT_EQ(tile_sectors(77, 50, 6, 34), sum);
  EXPECT_EQ(tile_sectors(0, 64, 0, 64), 0);
}

}  // namespace
}  // namespace tilewise
