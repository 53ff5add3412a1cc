#include "parts/order.cuh"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <utility>

namespace tilewise {
namespace {

constexpr int kKinds[] = {kOrderRow, kOrderColumn, kOrderGrouped, kOrderHilbert, kOrderSerpentine};

TEST(BlockOrder, VisitsEachTileOnce) {
  for (const int kind : kKinds) {
    for (const int axis : {kAxisM, kAxisN}) {
      for (const int group : {1, 3, 8, 1000}) {
        for (const auto& [rows, columns] : std::set<std::pair<int, int>>{
                 {1, 1}, {1, 7}, {9, 1}, {5, 8}, {16, 16}, {3, 40}, {33, 2}, {17, 19}}) {
          std::set<std::pair<int, int>> seen;
          for (int i = 0; i < rows * columns; ++i) {
            const TilePosition at = block_tile(kind, group, axis, rows, columns, i);
            ASSERT_TRUE(at.m >= 0 && at.m < rows && at.n >= 0 && at.n < columns)
                << kind << " " << i << ": " << at.m << "," << at.n;
            ASSERT_TRUE(seen.emplace(at.m, at.n).second) << kind << " " << i;
          }
        }
      }
    }
  }
}

TEST(BlockOrder, RowAndColumn) {
  EXPECT_EQ(block_tile(kOrderRow, 1, kAxisM, 4, 6, 7), (TilePosition{1, 1}));
  EXPECT_EQ(block_tile(kOrderColumn, 1, kAxisM, 4, 6, 7), (TilePosition{3, 1}));
}

TEST(BlockOrder, GroupedRunsDownTheColumnsOfASuperRow) {
  // 5 x 3 tiles, super-rows of 2: rows {0,1}, {2,3}, {4}.
  const TilePosition expected[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 0}, {3, 0},
                                   {2, 1}, {3, 1}, {2, 2}, {3, 2}, {4, 0}, {4, 1}, {4, 2}};
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(block_tile(kOrderGrouped, 2, kAxisM, 5, 3, i), expected[i]) << i;
    const TilePosition across = block_tile(kOrderGrouped, 2, kAxisN, 3, 5, i);
    EXPECT_EQ((TilePosition{across.n, across.m}), expected[i]) << i;
  }
}

TEST(BlockOrder, SerpentineTurnsAtTheEdge) {
  EXPECT_EQ(block_tile(kOrderSerpentine, 1, kAxisM, 3, 4, 3), (TilePosition{0, 3}));
  EXPECT_EQ(block_tile(kOrderSerpentine, 1, kAxisM, 3, 4, 4), (TilePosition{1, 3}));
  EXPECT_EQ(block_tile(kOrderSerpentine, 1, kAxisM, 3, 4, 8), (TilePosition{2, 0}));
  EXPECT_EQ(block_tile(kOrderSerpentine, 2, kAxisM, 4, 3, 6), (TilePosition{2, 2}));
}

TEST(BlockOrder, HilbertStepsToANeighbourInAPowerOfTwoSquare) {
  for (const int edge : {2, 4, 8, 32}) {
    TilePosition before = block_tile(kOrderHilbert, 1, kAxisM, edge, edge, 0);
    EXPECT_EQ(before, (TilePosition{0, 0}));
    for (int i = 1; i < edge * edge; ++i) {
      const TilePosition at = block_tile(kOrderHilbert, 1, kAxisM, edge, edge, i);
      EXPECT_EQ(std::abs(at.m - before.m) + std::abs(at.n - before.n), 1) << edge << " " << i;
      before = at;
    }
  }
}

TEST(BlockOrder, LargeGridsDoNotOverflow) {
  const int columns = 2147483647;
  EXPECT_EQ(block_tile(kOrderGrouped, 8, kAxisM, 1, columns, columns - 1),
            (TilePosition{0, columns - 1}));
  EXPECT_EQ(block_tile(kOrderRow, 1, kAxisM, 2, 1 << 29, (1 << 29) + 5), (TilePosition{1, 5}));
}

}  // namespace
}  // namespace tilewise
