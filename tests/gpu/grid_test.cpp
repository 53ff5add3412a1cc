#include "gpu/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;

LaunchInfo tile(int m, int n) {
  LaunchInfo info;
  info.threads = 256;
  info.shared_bytes = 1000;
  info.tile_m = m;
  info.tile_n = n;
  return info;
}

TEST(Grid, IsTilesByWaysByBatch) {
  Schedule s;
  s.split_k.ways = 4;
  const auto grid = grid_of(make_problem(129, 128, 64), 3, s, tile(128, 64), 132).value();
  EXPECT_EQ(grid.grid_x, 4u);
  EXPECT_EQ(grid.grid_y, 4u);
  EXPECT_EQ(grid.grid_z, 3u);
  EXPECT_EQ(grid.block_x, 256u);
  EXPECT_EQ(grid.shared_bytes, 1000u);
}

TEST(Grid, TilesAreRoundedUpToWholeClusters) {
  LaunchInfo info = tile(128, 128);
  info.cluster_m = 2;
  EXPECT_EQ(num_output_tiles(make_problem(129, 128, 1), info), 2);
  EXPECT_EQ(num_output_tiles(make_problem(257, 129, 1), info), 8);
}

TEST(Grid, APersistentGridIsWhatIsResident) {
  LaunchInfo info = tile(128, 128);
  info.persistent = true;
  info.cluster_n = 2;
  const auto full = grid_of(make_problem(8192, 8192, 1), 1, {}, info, 133).value();
  EXPECT_EQ(full.grid_x, 132u) << "whole clusters";
  EXPECT_EQ(full.grid_z, 1u);
  const auto few = grid_of(make_problem(128, 300, 1), 2, {}, info, 132).value();
  EXPECT_EQ(few.grid_x, 8u) << "four tiles of each of two matrices";
}

TEST(Grid, TooManyTilesAreRefused) {
  const auto grid = grid_of(make_problem(std::int64_t{1} << 24, 1 << 24, 1), 1, {}, tile(8, 32), 1);
  ASSERT_FALSE(grid.has_value());
  EXPECT_THAT(grid.error().message, HasSubstr("larger tiles"));
}

TEST(Grid, WorkspaceHoldsCountersThenPartialTiles) {
  LaunchInfo info = tile(64, 32);
  const Problem p = make_problem(128, 64, 64);  // 4 tiles
  Schedule s;
  s.split_k.ways = 3;
  const auto grid = grid_of(p, 2, s, info, 132).value();
  EXPECT_EQ(workspace_of(p, 2, info, grid).bytes, 0u);
  info.counters_per_tile = 1;
  info.partials_per_tile = 3;
  const std::size_t tile_bytes = 64 * 32 * 4;
  EXPECT_EQ(workspace_of(p, 2, info, grid).bytes, 256 + 8 * 3 * tile_bytes);
  EXPECT_EQ(workspace_of(p, 2, info, grid).zeroed_bytes, 8u * 4);
  info.partials_per_block = 2;
  info.zero_partials = true;
  const auto all = workspace_of(p, 2, info, grid);
  EXPECT_EQ(all.bytes, 256 + (8 * 3 + 4 * 3 * 2 * 2) * tile_bytes);
  EXPECT_EQ(all.zeroed_bytes, all.bytes);
}

}  // namespace
}  // namespace tilewise::gpu
