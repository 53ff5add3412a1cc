// The two loops around the register tile: column panels of B outside (one stays in the first-level
// cache), row panels of A inside (they stream from the second level).
#pragma once

#include "cpu/kernels/register_tile-inl.h"

namespace tilewise::cpu {
namespace HWY_NAMESPACE {

template <class T>
using TileFunction = void (*)(const TileArguments<T>&);

// Tile functions for 1 to mr rows and 1 to `vectors` vectors: an edge costs what it holds.
template <class T, int kMr, int kVectors, bool kPacked>
struct EdgeTiles {
  static constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES / sizeof(T));
  static constexpr int kNr = kVectors * kLanes;
  TileFunction<T> functions[kVectors][kMr];

  template <int kV, int kR>
  constexpr void fill_rows() {
    functions[kV - 1][kR - 1] = &register_tile<T, kMr, kNr, kR, kV, kPacked>;
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

template <class T, int kMr, int kVectors, bool kPacked>
HWY_NOINLINE void multiply_block(const BlockArguments<T>& block) {
  using Tiles = EdgeTiles<T, kMr, kVectors, kPacked>;
  static constexpr Tiles kTiles;
  constexpr int kNr = Tiles::kNr;
  constexpr int kLanes = Tiles::kLanes;
  constexpr int kTile = kMr * kNr;
  // Tiles one below the other that are finished together.
  constexpr int kStrip = kStripBytes / static_cast<int>(kTile * sizeof(T));
  static_assert(kStrip >= 1, "a strip holds a whole register tile: raise kStripBytes");
  HWY_ALIGN T strip[kStrip * kTile];

  const std::int64_t a_panel = kPacked ? kMr * block.k : kMr * block.a_row_stride;
  const std::int64_t b_panel = kPacked ? kNr * block.k : kNr;
  const T* b = block.b;
  std::int64_t b_step = block.b_step;
  T* partial_column = block.partial;
  for (std::int64_t j = 0; j < block.n; j += kNr) {
    const int columns = static_cast<int>(block.n - j < kNr ? block.n - j : kNr);
    // Tiles in our own memory are stored in whole vectors, those in d to the last column exactly.
    const int stored_columns = (columns + kLanes - 1) / kLanes * kLanes;
    if (!kPacked && columns < kNr) {
      b = block.b_edge;
      b_step = kNr;
    }
    const T* a = block.a;
    T* partial = partial_column;
    int in_strip = 0;
    for (std::int64_t i = 0; i < block.m; i += kMr) {
      const int rows = static_cast<int>(block.m - i < kMr ? block.m - i : kMr);
      TileArguments<T> tile{.k = block.k,
                            .a = a,
                            .b = b,
                            .partial = block.first ? nullptr : partial,
                            .out = partial,
                            .out_stride = kNr,
                            .columns = stored_columns,
                            .a_row_stride = block.a_row_stride,
                            .a_step = block.a_step,
                            .b_step = b_step};
      if (block.last && block.d != nullptr) {
        tile.columns = columns;
        tile.out = block.d + i * block.d_row_stride + j;
        tile.out_stride = block.d_row_stride;
      } else if (block.last) {
        tile.out = strip + in_strip * kTile;
      }
      kTiles.pick(rows, columns)(tile);
      if (block.last && block.d == nullptr && (++in_strip == kStrip || i + rows == block.m)) {
        const std::int64_t top = i - (in_strip - 1) * kMr;
        block.finish(block.context, strip, top, j, static_cast<int>(i - top) + rows, columns);
        in_strip = 0;
      }
      a += a_panel;
      partial += kTile;
    }
    b += b_panel;
    partial_column += block.partial_panel;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewise::cpu
