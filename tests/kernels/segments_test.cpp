// Which part of which tile each block computes: every phase of every tile exactly once.
#include "parts/segments.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tilewise {
namespace {

struct Grid {
  int64 tiles_of_a_batch, batch;
  int phases;
  int64 x;
  int y = 1, z = 1;
};

// Runs every block of the grid; checks that the parts of each tile are its phases, in order, and
// that they agree on how many there are. Returns the number of parts of the most divided tile.
int run(const Constants& schedule, const Grid& grid) {
  const GridWork work{grid.tiles_of_a_batch * grid.batch, grid.phases, static_cast<int>(grid.x)};
  std::map<int64, std::map<int, Segment>> parts;
  for (int64 z = 0; z < grid.z; ++z) {
    for (int y = 0; y < grid.y; ++y) {
      for (int64 x = 0; x < grid.x; ++x) {
        Segment now = first_segment(schedule, work, grid.tiles_of_a_batch, x, y, z);
        for (; now.parts > 0; now = next_segment(schedule, work, x, now)) {
          EXPECT_TRUE(parts[now.tile].emplace(now.part, now).second);
          EXPECT_LE(parts.size(), static_cast<std::size_t>(work.tiles));
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int64>(parts.size()), work.tiles);
  int most = 0;
  for (const auto& [tile, of_tile] : parts) {
    EXPECT_LT(tile, work.tiles);
    int part = 0, k = 0;
    for (const auto& [index, segment] : of_tile) {
      EXPECT_EQ(index, part++);
      EXPECT_EQ(segment.k_begin, k);
      EXPECT_EQ(segment.parts, static_cast<int>(of_tile.size()));
      k = segment.k_end;
    }
    EXPECT_EQ(k, grid.phases);
    most = std::max(most, part);
  }
  return most;
}

TEST(Segments, OneBlockATile) {
  EXPECT_EQ(run({}, {.tiles_of_a_batch = 12, .batch = 3, .phases = 7, .x = 12, .z = 3}), 1);
}

TEST(Segments, SplitK) {
  for (const int ways : {2, 3, 5, 8}) {
    Constants schedule;
    schedule.split_k = ways;
    for (const int phases : {0, 1, 4, 17})  // also fewer phases than ways
      EXPECT_EQ(run(schedule, {6, 2, phases, 6, ways, 2}), ways);
  }
}

TEST(Segments, Persistent) {
  for (const int split_k : {1, 3}) {
    Constants schedule;
    schedule.persistent = true;
    schedule.split_k = split_k;
    for (const int64 grid : {1, 5, 132, 264}) {
      for (const int64 tiles : {1, 7, 132, 300})
        EXPECT_EQ(run(schedule, {tiles, 2, 9, grid}), split_k);
    }
  }
}

TEST(Segments, StreamK) {
  Constants schedule;
  schedule.stream_k = true;
  schedule.persistent = true;
  for (const int64 grid : {1, 3, 8, 132}) {
    for (const int64 tiles : {1, 2, 7, 8, 9, 131, 132, 133, 300}) {
      for (const int phases : {0, 1, 2, 5, 16, 250}) run(schedule, {tiles, 1, phases, grid});
    }
  }
  EXPECT_EQ(run(schedule, {132 * 4, 1, 16, 132}), 1);  // whole waves: nothing is split
  EXPECT_GT(run(schedule, {132 + 66, 1, 64, 132}), 1);
}

TEST(Segments, StreamKSharesTheWorkEvenly) {
  const GridWork work{.tiles = 200, .phases = 64, .grid = 132};
  for (int64 block = 0; block < work.grid; ++block) {
    const int64 share = work.share(block + 1) - work.share(block);
    EXPECT_GE(share, 200 * 64 / 132);
    EXPECT_LE(share, 200 * 64 / 132 + 1);
  }
}

TEST(Segments, StreamKGivesNoBlockLessThanItIsWorth) {
  const GridWork work{.tiles = 1, .phases = 30, .grid = 132};
  EXPECT_EQ(work.streamers(), 30 / GridWork::kLeastPhases);
}

}  // namespace
}  // namespace tilewise
