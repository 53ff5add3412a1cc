// The index arithmetic of the float32 rungs: layouts in shared memory, shares of a copy, lanes of a
// warp.
#include "parts/layout.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tilewise {
namespace {

constexpr int kBankCount = 32;

// Wavefronts of one access of 4 bytes a lane: the largest number of distinct words in a bank.
int wavefronts(const std::vector<int>& words) {
  std::vector<std::set<int>> banks(kBankCount);
  for (const int word : words) banks[word % kBankCount].insert(word);
  std::size_t most = 0;
  for (const auto& bank : banks) most = std::max(most, bank.size());
  return static_cast<int>(most);
}

std::vector<SharedTile> tiles() {
  std::vector<SharedTile> all;
  for (const int k : {8, 16, 32}) {
    for (const int x : {32, 64, 128, 256}) {
      all.push_back({k, x});
      all.push_back({k, x, 4});
      all.push_back({.k = k, .x = x, .by_columns = true});
      for (const int swizzle_bytes : {32, 64, 128}) all.push_back({k, x, 0, swizzle_bytes});
    }
  }
  return all;
}

TEST(SharedTile, GivesEachElementItsOwnPlace) {
  for (const SharedTile& tile : tiles()) {
    ASSERT_TRUE(tile.valid());
    std::set<int> seen;
    for (int k = 0; k < tile.k; ++k) {
      for (int x = 0; x < tile.x; ++x) {
        const int at = tile.offset(k, x);
        EXPECT_GE(at, 0);
        EXPECT_LT(at, tile.elements());
        EXPECT_TRUE(seen.insert(at).second);
      }
    }
  }
}

TEST(SharedTile, KeepsChunksOf16BytesTogether) {
  for (const SharedTile& tile : tiles()) {
    if (tile.by_columns) continue;
    for (int k = 0; k < tile.k; ++k) {
      for (int x = 0; x < tile.x; x += kChunkElements) {
        EXPECT_EQ(tile.offset(k, x) % kChunkElements, 0);
        for (int i = 1; i < kChunkElements; ++i)
          EXPECT_EQ(tile.offset(k, x + i), tile.offset(k, x) + i);
      }
    }
  }
}

TEST(SharedTile, RowsFollowFromRowZeroByATogglePlusAStep) {
  for (const SharedTile& tile : tiles()) {
    if (tile.by_columns) continue;
    for (int k = 0; k < tile.k; ++k) {
      for (int x = 0; x < tile.x; ++x) {
        const int first = 4 * tile.offset(0, x);
        EXPECT_EQ(4 * tile.offset(k, x), (first ^ tile.toggle_bytes(k)) + k * tile.row_bytes());
      }
    }
  }
}

TEST(SharedTile, RefusesWhatHasNoPattern) {
  EXPECT_FALSE((SharedTile{8, 128, 3}.valid()));       // rows would not start on 16 bytes
  EXPECT_FALSE((SharedTile{8, 128, 4, 128}.valid()));  // both
  EXPECT_FALSE((SharedTile{4, 128, 0, 128}.valid()));  // not a whole period
  EXPECT_FALSE((SharedTile{8, 48, 0, 128}.valid()));   // not whole panels
}

std::vector<CopyLayout> copies() {
  std::vector<CopyLayout> all;
  for (const CopyMode mode :
       {CopyMode::scalar_x, CopyMode::scalar_k, CopyMode::vector_x, CopyMode::vector_k}) {
    for (const int k : {8, 16, 32}) {
      for (const int x : {64, 128, 256}) {
        for (const int threads : {128, 256}) {
          const CopyLayout layout{mode, k, x, threads};
          if (layout.regular()) all.push_back(layout);
        }
      }
    }
  }
  all.push_back({CopyMode::scalar_k, 32, 32, 1024, 32});
  all.push_back({CopyMode::scalar_k, 8, 64, 512, 8});
  all.push_back({CopyMode::scalar_k, 8, 128, 256, 4});
  return all;
}

TEST(CopyLayout, CoversTheTileOnce) {
  EXPECT_GT(copies().size(), 40U);
  for (const CopyLayout& layout : copies()) {
    std::set<std::pair<int, int>> seen;
    for (int piece = 0; piece < layout.pieces(); ++piece) {
      const KX at = layout.at(piece);
      for (int i = 0; i < layout.width(); ++i) {
        const int k = at.k + (layout.along_k() ? i : 0), x = at.x + (layout.along_k() ? 0 : i);
        EXPECT_LT(k, layout.k);
        EXPECT_LT(x, layout.x);
        EXPECT_TRUE(seen.insert({k, x}).second);
      }
    }
    EXPECT_EQ(static_cast<int>(seen.size()), layout.k * layout.x);
  }
}

TEST(CopyLayout, RegularMeansThatStepsAreTheSameForAllThreads) {
  for (const CopyLayout& layout : copies()) {
    ASSERT_TRUE(layout.regular());
    for (int thread = 0; thread < layout.threads; ++thread) {
      for (int i = 0; i < layout.pieces_per_thread(); ++i) {
        const KX first = layout.at(thread), step = layout.at(i * layout.threads);
        EXPECT_EQ(layout.at(thread + i * layout.threads), (KX{first.k + step.k, first.x + step.x}));
      }
    }
  }
  EXPECT_FALSE((CopyLayout{CopyMode::scalar_x, 8, 96, 256}.regular()));
}

TEST(CopyLayout, NeighbouringThreadsReadNeighboursInMemory) {
  const CopyLayout rows{CopyMode::vector_x, 16, 128, 256};
  for (int t = 1; t < 32; ++t) EXPECT_EQ(rows.at(t), (KX{0, 4 * t}));
  const CopyLayout columns{CopyMode::scalar_k, 16, 128, 256};  // whole 32-byte sectors of A
  for (int t = 0; t < 32; ++t) EXPECT_EQ(columns.at(t), (KX{t % 8, t / 8}));
}

// The transposed stores of A: rung 06 has conflicts, padding and the swizzle have none.
int store_wavefronts(const SharedTile& tile, const CopyLayout& layout) {
  int most = 0;
  for (int j = 0; j < layout.width(); ++j) {
    std::vector<int> words;
    for (int t = 0; t < 32; ++t) words.push_back(tile.offset(layout.at(t).k + j, layout.at(t).x));
    most = std::max(most, wavefronts(words));
  }
  return most;
}

TEST(Stores, PaddingAndSwizzleRemoveTheConflictsOfATransposedStore) {
  const CopyLayout by_chunks{CopyMode::vector_k, 8, 128, 256};
  EXPECT_EQ(store_wavefronts({8, 128}, by_chunks), 2);
  EXPECT_EQ(store_wavefronts({8, 128, 4}, by_chunks), 1);
  EXPECT_EQ(store_wavefronts({8, 128, 0, 128}, by_chunks), 1);
  const CopyLayout by_elements{CopyMode::scalar_k, 16, 128, 256};
  EXPECT_EQ(store_wavefronts({16, 128}, by_elements), 8);
  EXPECT_EQ(store_wavefronts({16, 128, 4}, by_elements), 1);
  EXPECT_EQ(store_wavefronts({16, 128, 0, 128}, by_elements), 1);
}

TEST(ThreadElement, IsTheScheduleDefinitionOfRepeats) {
  for (const int repeat : {1, 2, 4}) {
    std::set<int> seen;
    for (int j = 0; j < 64 / 8; ++j) {
      for (int i = 0; i < 8; ++i)
        EXPECT_TRUE(seen.insert(thread_element(64, 8, repeat, j, i)).second);
    }
    EXPECT_EQ(seen.size(), 64U);
    EXPECT_EQ(*seen.rbegin(), 63);
  }
  EXPECT_EQ(thread_element(64, 8, 2, 3, 5), 1 * 8 * 4 + 3 * 4 + 1);
}

TEST(LanePosition, IsABijectionOnEveryGridOf32) {
  for (const auto& [m, n] : {std::pair{2, 16}, {4, 8}, {8, 4}, {16, 2}}) {
    std::set<std::pair<int, int>> seen;
    for (int lane = 0; lane < 32; ++lane) {
      const MN at = lane_position(lane, m, n);
      EXPECT_GE(at.m, 0);
      EXPECT_LT(at.m, m);
      EXPECT_GE(at.n, 0);
      EXPECT_LT(at.n, n);
      EXPECT_TRUE(seen.insert({at.m, at.n}).second);
    }
  }
}

// What makes a 16-byte read cost 2 wavefronts and not 4 (measured: docs/ladder/README.md).
TEST(LanePosition, PairsShareTheReadsOfBothOperands) {
  for (const auto& [m, n] : {std::pair{4, 8}, {8, 4}}) {
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(lane_position(lane, m, n).m, lane_position(lane ^ 1, m, n).m);
      EXPECT_EQ(lane_position(lane, m, n).n, lane_position(lane ^ 2, m, n).n);
    }
    for (const int half : {0, 16}) {  // at most 128 bytes in half a warp
      std::set<int> rows, columns;
      for (int lane = half; lane < half + 16; ++lane) {
        rows.insert(lane_position(lane, m, n).m);
        columns.insert(lane_position(lane, m, n).n);
      }
      EXPECT_LE(rows.size(), 8U);
      EXPECT_LE(columns.size(), 8U);
    }
  }
}

TEST(Clip, IsWhatExistsOfATile) {
  EXPECT_EQ(clip(100, 96, 8), 4);
  EXPECT_EQ(clip(100, 80, 8), 8);
  EXPECT_EQ(clip(100, 104, 8), 0);
  EXPECT_EQ(clip(0, 0, 8), 0);
  EXPECT_EQ(clip(int64{1} << 40, 0, 8), 8);
  EXPECT_EQ(num_tiles(0, 8), 0);
  EXPECT_EQ(num_tiles(9, 8), 2);
}

}  // namespace
}  // namespace tilewise
