// The register layouts against the PTX ISA's tables, and each layout as a bijection.
#include "parts/fragment.cuh"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace tilewise {
namespace {

// Rows of the PTX ISA's description of m16n8k16 with 16-bit elements, written out by hand.
static_assert(mma_a(0, 0, 2) == Coordinate{0, 0});
static_assert(mma_a(0, 1, 2) == Coordinate{0, 1});
static_assert(mma_a(0, 2, 2) == Coordinate{8, 0});
static_assert(mma_a(0, 4, 2) == Coordinate{0, 8});
static_assert(mma_a(31, 7, 2) == Coordinate{15, 15});
static_assert(mma_a(5, 6, 2) == Coordinate{9, 10});
static_assert(mma_b(0, 0, 2) == Coordinate{0, 0});
static_assert(mma_b(1, 1, 2) == Coordinate{3, 0});
static_assert(mma_b(4, 2, 2) == Coordinate{8, 1});
static_assert(mma_b(31, 3, 2) == Coordinate{15, 7});
static_assert(mma_c(0, 1) == Coordinate{0, 1});
static_assert(mma_c(6, 2) == Coordinate{9, 4});
// m16n8k8 tf32: a1 is eight rows down, a2 four columns to the right.
static_assert(mma_a(7, 1, 1) == Coordinate{9, 3});
static_assert(mma_a(7, 2, 1) == Coordinate{1, 7});
static_assert(mma_b(7, 1, 1) == Coordinate{7, 1});
// m16n8k32 f8: four neighbours a register.
static_assert(mma_a(1, 3, 4) == Coordinate{0, 7});
static_assert(mma_a(1, 8, 4) == Coordinate{0, 20});
static_assert(mma_b(2, 5, 4) == Coordinate{25, 0});
// wgmma: thread 37 is lane 5 of warp 1.
static_assert(wgmma_c(37, 0) == Coordinate{17, 2});
static_assert(wgmma_c(37, 3) == Coordinate{25, 3});
static_assert(wgmma_c(127, 127) == Coordinate{63, 255});

template <class Layout, class Inverse>
void expect_bijection(int threads, int elements, int rows, int columns, Layout layout,
                      Inverse inverse) {
  ASSERT_EQ(threads * elements, rows * columns);
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < threads; ++thread) {
    for (int i = 0; i < elements; ++i) {
      const Coordinate at = layout(thread, i);
      EXPECT_TRUE(at.row >= 0 && at.row < rows && at.column >= 0 && at.column < columns);
      EXPECT_TRUE(seen.emplace(at.row, at.column).second) << at.row << " " << at.column;
      EXPECT_EQ(inverse(at.row, at.column), (Holder{thread, i}));
    }
  }
}

TEST(Fragment, MmaOperandsHoldEachElementOnce) {
  for (const int p : {1, 2, 4}) {
    expect_bijection(
        32, mma_elements_a(p), 16, 8 * p, [p](int t, int i) { return mma_a(t, i, p); },
        [p](int r, int c) { return mma_a_holder(r, c, p); });
    expect_bijection(
        32, mma_elements_b(p), 8 * p, 8, [p](int t, int i) { return mma_b(t, i, p); },
        [p](int r, int c) { return mma_b_holder(r, c, p); });
  }
  expect_bijection(32, kMmaElementsC, 16, 8, mma_c, mma_c_holder);
}

TEST(Fragment, WgmmaAccumulatorHoldsEachElementOnce) {
  for (const int n : {8, 24, 64, 128, 256}) {
    expect_bijection(128, n / 2, 64, n, wgmma_c, wgmma_c_holder);
  }
  for (const int p : {1, 2, 4}) {
    expect_bijection(
        128, mma_elements_a(p), 64, 8 * p, [p](int t, int i) { return wgmma_a(t, i, p); },
        [p](int r, int c) { return wgmma_a_holder(r, c, p); });
  }
}

// ldmatrix gives lane l, register j, the elements (l / 4, 2 (l % 4) + {0, 1}) of matrix j, whose
// rows are pointed at by lanes 8j to 8j + 7; with .trans those of the transposed matrix.
TEST(Fragment, LdmatrixDeliversTheFragmentsOfMma) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      for (int half = 0; half < 2; ++half) {
        const int row = lane / 4, column = 2 * (lane % 4) + half;
        const Coordinate a = ldmatrix_a(8 * matrix + row);
        EXPECT_EQ((Coordinate{a.row, a.column + column}), mma_a(lane, 2 * matrix + half, 2));

        Coordinate b = mma_b(lane, 2 * (matrix % 2) + half, 2);
        b.column += 8 * (matrix / 2);
        const Coordinate plain = ldmatrix_b(8 * matrix + row);  // storage row: n, along it: k
        EXPECT_EQ((Coordinate{plain.row + column, plain.column}), b);
        const Coordinate transposed = ldmatrix_b_trans(8 * matrix + column);  // storage row: k
        EXPECT_EQ((Coordinate{transposed.row, transposed.column + row}), b);
      }
    }
  }
}

}  // namespace
}  // namespace tilewise
