// What a block of the grid works on: tiles one after another when the grid is persistent, parts of
// K when K is split. Plain functions of integers, called by host tests too.
#pragma once

#include "parts/arguments.cuh"
#include "parts/host_device.cuh"

namespace tilewise {

// A part of a tile's phases along K.
struct Segment {
  int64 tile = 0;              // in launch order, batch by batch
  int k_begin = 0, k_end = 0;  // phases; a K of 2^31 of them is far beyond any memory
  int part = 0, parts = 0;     // this one, and how many the tile has; parts = 0: nothing is left
  constexpr bool operator==(const Segment&) const = default;
};

// The grid's work: tiles of all batches, phases of each, blocks along x.
struct GridWork {
  static constexpr int kLeastPhases = 4;  // a smaller part costs more than it saves

  int64 tiles;
  int phases, grid;

  TILEWISE_HOST_DEVICE constexpr Segment whole(int64 tile) const {
    return tile < tiles ? Segment{tile, 0, phases, 0, 1} : Segment{};
  }
  TILEWISE_HOST_DEVICE constexpr Segment way(int64 tile, int index, int ways) const {
    return Segment{tile, static_cast<int>(int64{phases} * index / ways),
                   static_cast<int>(int64{phases} * (index + 1) / ways), index, ways};
  }

  // Stream-K: the last, incomplete wave and the full one before it become one range of phases that
  // is shared out evenly, in the order of the tiles; every other tile follows whole.
  TILEWISE_HOST_DEVICE constexpr int64 streamed() const {
    if (phases == 0 || tiles % grid == 0) return 0;
    return tiles % grid + (tiles >= grid ? grid : 0);
  }
  // Blocks that share the range: fewer than the grid where each would get less than kLeastPhases.
  TILEWISE_HOST_DEVICE constexpr int64 streamers() const {
    const int64 most = streamed() * phases / kLeastPhases;
    return most < 1 ? 1 : most < grid ? most : grid;
  }
  // First iteration of a block's share of that range.
  TILEWISE_HOST_DEVICE constexpr int64 share(int64 block) const {
    return streamed() * phases * (block < streamers() ? block : streamers()) / streamers();
  }
  // The block whose share holds an iteration.
  TILEWISE_HOST_DEVICE constexpr int64 block_of(int64 iteration) const {
    return ((iteration + 1) * streamers() - 1) / (streamed() * phases);
  }
  // The segment of `block` that starts at `iteration`.
  TILEWISE_HOST_DEVICE constexpr Segment stream(int64 block, int64 iteration) const {
    const int64 end = share(block + 1);
    if (iteration >= end) return whole(streamed() + block);
    const int64 tile = iteration / phases, first = tile * phases;
    const int64 k_end = (end < first + phases ? end : first + phases) - first;
    const int64 first_block = block_of(first);
    return {tile, static_cast<int>(iteration - first), static_cast<int>(k_end),
            static_cast<int>(block - first_block),
            static_cast<int>(block_of(first + phases - 1) - first_block + 1)};
  }
};

// The first segment of the block (x, y, z) of the grid, and the one after another.
TILEWISE_HOST_DEVICE constexpr Segment first_segment(const Constants& schedule,
                                                     const GridWork& work, int64 tiles_of_a_batch,
                                                     int64 x, int y, int64 z) {
  if (schedule.stream_k) return work.stream(x, work.share(x));
  if (!schedule.persistent) return work.way(x + tiles_of_a_batch * z, y, schedule.split_k);
  if (x >= work.tiles * schedule.split_k) return {};
  return work.way(x % work.tiles, static_cast<int>(x / work.tiles), schedule.split_k);
}

TILEWISE_HOST_DEVICE constexpr Segment next_segment(const Constants& schedule, const GridWork& work,
                                                    int64 x, const Segment& now) {
  if (schedule.stream_k) {
    if (now.tile >= work.streamed()) return work.whole(now.tile + work.grid);
    return work.stream(x, now.tile * work.phases + now.k_end);
  }
  if (!schedule.persistent) return {};
  const int64 item = now.part * work.tiles + now.tile + work.grid;
  if (item >= work.tiles * schedule.split_k) return {};
  return work.way(item % work.tiles, static_cast<int>(item / work.tiles), schedule.split_k);
}

}  // namespace tilewise
