// The two loops around the register tile. As a rule column panels of B outside (one stays in the
// first-level cache) and row panels of A inside (they stream from the second level).
#pragma once

#include "cpu/kernels/register_tile-inl.h"

namespace tilewise::cpu {
namespace HWY_NAMESPACE {

template <class T>
using TileFunction = void (*)(const TileArguments<T>&);

// Tile functions for 1 to mr rows and 1 to kVectors vectors: an edge costs what it holds.
template <class T, int kMr, int kNr, int kVectors, int kLanes, bool kPacked>
struct EdgeTiles {
  TileFunction<T> functions[kVectors][kMr];

  template <int kV, int kR>
  constexpr void fill_rows() {
    functions[kV - 1][kR - 1] = &register_tile<T, kMr, kNr, kR, kV, kLanes, kPacked>;
    if constexpr (kR > 1) fill_rows<kV, kR - 1>();
  }
  template <int kV>
  constexpr void fill() {
    fill_rows<kV, kMr>();
    if constexpr (kV > 1) fill<kV - 1>();
  }
  constexpr EdgeTiles() : functions{} { fill<kVectors>(); }

  TileFunction<T> pick(int rows, int columns) const {
    return functions[(columns + kLanes - 1) / kLanes - 1][rows - 1];
  }
};

// Sums that wait in the first-level cache for the epilogue, so that its calls cost little each.
inline constexpr int kStripBytes = 4096;

// Up to this size B's panels stay near however often they are read, and D is then written along its
// rows: down a column of tiles every row of D is on another page.
inline constexpr std::int64_t kNearBytes = 128 << 10;

// kNr: width of a panel. kVectors x kLanes: the same, or 1 x 1 for a block of one column.
template <class T, int kMr, int kNr, int kVectors, int kLanes, bool kPacked>
class Block {
 public:
  explicit Block(const BlockArguments<T>& block) : block_(block) {}

  void multiply() {
    const bool along_rows =
        block_.last && block_.k * block_.n * static_cast<std::int64_t>(sizeof(T)) <= kNearBytes;
    if (along_rows) {
      for (std::int64_t i = 0; i < block_.m; i += kMr) {
        for (std::int64_t j = 0; j < block_.n; j += kNr) {
          multiply_tile(i, j);
          finish(i, j);
        }
      }
      return;
    }
    for (std::int64_t j = 0; j < block_.n; j += kNr) {
      for (std::int64_t i = 0; i < block_.m; i += kMr) {
        multiply_tile(i, j);
        if (waiting_ == kStrip || i + kMr >= block_.m) finish(i, j);
      }
    }
  }

 private:
  static constexpr int kTile = kMr * kNr;
  // Tiles one below the other that are finished together.
  static constexpr int kStrip = kStripBytes / static_cast<int>(kTile * sizeof(T));
  static_assert(kStrip >= 1, "a strip holds a whole register tile: raise kStripBytes");

  static int clip(std::int64_t left, int most) {
    return static_cast<int>(left < most ? left : most);
  }

  void multiply_tile(std::int64_t i, std::int64_t j) {
    static constexpr EdgeTiles<T, kMr, kNr, kVectors, kLanes, kPacked> kTiles;
    const int rows = clip(block_.m - i, kMr);
    const int columns = clip(block_.n - j, kNr);
    const bool at_edge = !kPacked && columns < kVectors * kLanes;
    T* const partial = block_.partial + j / kNr * block_.partial_panel + i / kMr * kTile;
    TileArguments<T> tile{.k = block_.k,
                          .a = block_.a + i * (kPacked ? block_.k : block_.a_row_stride),
                          .b = at_edge ? block_.b_edge : block_.b + j * (kPacked ? block_.k : 1),
                          .partial = block_.first ? nullptr : partial,
                          .out = partial,
                          .out_stride = kNr,
                          // Tiles in our own memory are stored in whole vectors, those in d to the
                          // last column exactly.
                          .columns = (columns + kLanes - 1) / kLanes * kLanes,
                          .a_row_stride = block_.a_row_stride,
                          .a_step = block_.a_step,
                          .b_step = at_edge ? kNr : block_.b_step};
    if (block_.last && block_.d != nullptr) {
      tile.columns = columns;
      tile.out = block_.d + i * block_.d_row_stride + j;
      tile.out_stride = block_.d_row_stride;
    } else if (block_.last) {
      tile.out = strip_ + waiting_ * kTile;
      ++waiting_;
    }
    kTiles.pick(rows, columns)(tile);
  }

  // Of the tiles that wait, the last of which is at (i, j).
  void finish(std::int64_t i, std::int64_t j) {
    if (waiting_ == 0) return;
    const std::int64_t top = i - (waiting_ - 1) * kMr;
    block_.finish(block_.context, strip_, top, j, clip(block_.m - top, waiting_ * kMr),
                  clip(block_.n - j, kNr));
    waiting_ = 0;
  }

  const BlockArguments<T>& block_;
  int waiting_ = 0;
  HWY_ALIGN T strip_[kStrip * kTile];
};

template <class T, int kMr, int kNr, int kVectors, int kLanes, bool kPacked>
HWY_NOINLINE void multiply_block(const BlockArguments<T>& block) {
  Block<T, kMr, kNr, kVectors, kLanes, kPacked>(block).multiply();
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewise::cpu
