// Which output tile a block computes: the launch order of blocks decides what the L2 can reuse.
// Plain constexpr functions, shared by the kernels, the model and the host tests.
//
// Each order is a bijection from [0, tiles_m tiles_n) to the tiles. tiles_m * tiles_n must fit an
// int (a grid's limit along x), and for Hilbert neither may exceed 2^30.
#pragma once

#include "parts/host_device.cuh"

namespace tilewise {

struct TilePosition {
  int m = 0;
  int n = 0;
  constexpr bool operator==(const TilePosition&) const = default;
};

// The values of Constants::order and of Order::Kind.
constexpr int kOrderRow = 0;
constexpr int kOrderColumn = 1;
constexpr int kOrderGrouped = 2;
constexpr int kOrderHilbert = 3;
constexpr int kOrderSerpentine = 4;
constexpr int kAxisM = 0;
constexpr int kAxisN = 1;

// Super-rows of `group` rows (the last one may be lower); inside one, column by column, top to
// bottom. alternate: odd super-rows run from right to left. With group = 1 this is row order.
TILEWISE_HOST_DEVICE constexpr TilePosition grouped_order(int rows, int columns, int index,
                                                          int group, bool alternate) {
  if (group < 1) group = 1;
  if (group > rows) group = rows;  // group * columns then fits
  const int super_row = index / (group * columns);
  const int first = super_row * group;
  const int height = rows - first < group ? rows - first : group;
  const int inside = index - first * columns;
  const int column = inside / height;
  const bool reversed = alternate && super_row % 2 == 1;
  return {first + inside % height, reversed ? columns - 1 - column : column};
}

// Tiles of a rectangle that lie in the square of edge `edge` at (m, n).
TILEWISE_HOST_DEVICE constexpr int tiles_inside(int tiles_m, int tiles_n, int m, int n, int edge) {
  const int height = tiles_m - m < edge ? tiles_m - m : edge;
  const int width = tiles_n - n < edge ? tiles_n - n : edge;
  return height > 0 && width > 0 ? height * width : 0;
}

// The Hilbert curve of the smallest square of edge 2^e that holds the grid, restricted to the grid:
// at each scale a quadrant is skipped by the number of its tiles that exist. Neighbours in the
// order are neighbours in the grid wherever the curve does not leave the grid. Cost: 4 steps a
// scale.
TILEWISE_HOST_DEVICE constexpr TilePosition hilbert_order(int tiles_m, int tiles_n, int index) {
  const int longest = tiles_m > tiles_n ? tiles_m : tiles_n;
  int edge = 1;
  while (edge < longest && edge < (1 << 30)) edge *= 2;
  TilePosition at{0, 0};
  bool swapped = false;  // the frame of this quadrant against the grid's: transposed,
  bool flipped = false;  // and turned by half a circle
  for (edge /= 2; edge > 0; edge /= 2) {
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
      // In its own frame the curve visits (0,0) (0,1) (1,1) (1,0).
      const int along = (quadrant >= 2) != flipped;
      const int across = (quadrant == 1 || quadrant == 2) != flipped;
      const TilePosition corner{at.m + edge * (swapped ? across : along),
                                at.n + edge * (swapped ? along : across)};
      const int size = tiles_inside(tiles_m, tiles_n, corner.m, corner.n, edge);
      if (index >= size) {
        index -= size;
        continue;
      }
      at = corner;
      if (quadrant == 0 || quadrant == 3) swapped = !swapped;
      if (quadrant == 3) flipped = !flipped;
      break;
    }
  }
  return at;
}

// The tile of block `index` in [0, tiles_m * tiles_n). kind, group and axis as in the schedule:
// group and axis matter to `grouped` and `serpentine` (axis m: super-rows of `group` tiles along
// m).
TILEWISE_HOST_DEVICE constexpr TilePosition block_tile(int kind, int group, int axis, int tiles_m,
                                                       int tiles_n, int index) {
  if (kind == kOrderHilbert) return hilbert_order(tiles_m, tiles_n, index);
  const bool grouped = kind == kOrderGrouped || kind == kOrderSerpentine;
  const bool transposed = kind == kOrderColumn || (grouped && axis == kAxisN);
  const int rows = transposed ? tiles_n : tiles_m;
  const int columns = transposed ? tiles_m : tiles_n;
  const TilePosition at =
      grouped_order(rows, columns, index, grouped ? group : 1, kind == kOrderSerpentine);
  return transposed ? TilePosition{at.n, at.m} : at;
}

}  // namespace tilewise
