#include "tilewise/access.h"

#include <gtest/gtest.h>

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
