// What a block works on: output tiles, ways of a split K and batches, one after another when the
// grid is persistent; with stream-K, parts of tiles. The blocks of a cluster stand beside each
// other, cluster.m along m by cluster.n along n, and take the same steps of K.
#pragma once

#include "parts/arguments.cuh"
#include "parts/order.cuh"

namespace tilewise {

// Kept in few registers: it lives as long as the accumulators.
template <Constants c>
struct Work {
  int tile_m = 0, tile_n = 0;  // of the block; may lie outside D
  int batch = 0;
  int way = 0;                 // of the split K
  int k_begin = 0, k_end = 0;  // steps of block.k

  // First row and column.
  __device__ int64 m() const { return static_cast<int64>(tile_m) * c.block_m; }
  __device__ int64 n() const { return static_cast<int64>(tile_n) * c.block_n; }
};

// The block's works in their order. Every warp that needs them has its own and steps through it.
//
// Stream-K: the steps of all tiles in one row, cut into equal ranges, one a cluster. A tile that a
// range cuts belongs to the cluster that has its first step; the others, each of which has it first
// in its range, leave their sums to it. All blocks must be resident at once.
template <Constants c>
struct WorkList {
  static constexpr int kClusterBlocks = c.cluster_m * c.cluster_n;

  int tiles_m, tiles_n;  // whole clusters
  int k_steps;           // of a tile
  int batches;
  int rank;             // of this block in its cluster
  int64 position, end;  // items; with stream-K, steps of all items

  __device__ WorkList(const KernelArguments& arguments, int cluster_rank) : rank(cluster_rank) {
    constexpr int kSpanM = c.block_m * c.cluster_m, kSpanN = c.block_n * c.cluster_n;
    tiles_m = static_cast<int>((arguments.m + kSpanM - 1) / kSpanM);
    tiles_n = static_cast<int>((arguments.n + kSpanN - 1) / kSpanN);
    k_steps = static_cast<int>((arguments.k + c.block_k - 1) / c.block_k);
    batches = static_cast<int>(arguments.batch);
    if constexpr (c.stream_k) {
      position = cluster() < ranges() ? total() * cluster() / ranges() : 0;
      end = cluster() < ranges() ? total() * (cluster() + 1) / ranges() : 0;
    } else if constexpr (c.persistent) {
      position = cluster();
      end = static_cast<int64>(tiles_m) * tiles_n * c.split_k * batches;
    } else {
      const int64 slice = blockIdx.y + static_cast<int64>(c.split_k) * blockIdx.z;
      position = static_cast<int64>(tiles_m) * tiles_n * slice + cluster();
      end = position + 1;
    }
  }

  __device__ int rank_m() const { return rank % c.cluster_m; }
  __device__ int rank_n() const { return rank / c.cluster_m; }
  __device__ bool more() const { return position < end; }

  // The next work, moved past.
  __device__ Work<c> next() {
    if constexpr (c.stream_k) {
      const int64 item = position / steps();
      const int64 first = position - item * steps(), left = end - position;
      Work<c> work = at(item);
      work.k_begin = static_cast<int>(first);
      work.k_end = static_cast<int>(steps() - first < left ? steps() : first + left);
      position += work.k_end - work.k_begin;
      if (k_steps == 0) work.k_end = 0;
      return work;
    } else {
      const Work<c> work = at(position);
      position += c.persistent ? gridDim.x / kClusterBlocks : 1;
      return work;
    }
  }

  // Output tiles of one batch matrix, those that fill up clusters included, and the place of a
  // work's tile among all of them in row-major order (LaunchInfo: workspace).
  __device__ int64 num_tiles() const {
    return static_cast<int64>(tiles_m) * tiles_n * kClusterBlocks;
  }
  __device__ int64 tile_index(const Work<c>& work) const {
    return work.batch * num_tiles() + static_cast<int64>(work.tile_m) * tiles_n * c.cluster_n +
           work.tile_n;
  }

  // Stream-K: clusters after this one that have parts of the work's tile, which begins here.
  __device__ int num_others(const Work<c>& work) const {
    if (k_steps == 0) return 0;
    const int64 last = position - work.k_end + k_steps - 1;  // the tile's last step
    return static_cast<int>(((last + 1) * ranges() - 1) / total() - cluster());
  }

 private:
  __device__ int64 cluster() const { return blockIdx.x / kClusterBlocks; }
  // 1 where K is 0, so that every tile is somebody's.
  __device__ int64 steps() const { return k_steps > 0 ? k_steps : 1; }
  __device__ int64 total() const {
    return static_cast<int64>(tiles_m) * tiles_n * batches * steps();
  }
  // Clusters that have a step.
  __device__ int64 ranges() const {
    const int64 clusters = gridDim.x / kClusterBlocks;
    return total() < clusters ? total() : clusters;
  }

  __device__ Work<c> at(int64 item) const {
    const int tiles = tiles_m * tiles_n;
    const int64 slice = item / tiles;
    const TilePosition tile = block_tile(c.order, c.order_group, c.order_axis, tiles_m, tiles_n,
                                         static_cast<int>(item - slice * tiles));
    Work<c> work;
    work.tile_m = tile.m * c.cluster_m + rank_m();
    work.tile_n = tile.n * c.cluster_n + rank_n();
    work.batch = static_cast<int>(slice / c.split_k);
    work.way = static_cast<int>(slice % c.split_k);
    work.k_begin = static_cast<int>(static_cast<int64>(k_steps) * work.way / c.split_k);
    work.k_end = static_cast<int>(static_cast<int64>(k_steps) * (work.way + 1) / c.split_k);
    return work;
  }
};

// A list whose next work is found out in time: the divisions that this takes last hundreds of
// cycles, best spent while the tensor cores are busy.
template <Constants c>
struct PreparedWorkList : WorkList<c> {
  Work<c> ahead;
  bool is_ahead = false;

  explicit __device__ PreparedWorkList(const WorkList<c>& list) : WorkList<c>(list) {}

  __device__ bool more() const { return is_ahead || WorkList<c>::more(); }

  // Not with stream-K, where num_others asks for the place behind the work at hand.
  __device__ void prepare() {
    if (c.stream_k || !more()) return;
    ahead = next();
    is_ahead = true;
  }

  __device__ Work<c> next() {
    if (!is_ahead) return WorkList<c>::next();
    is_ahead = false;
    return ahead;
  }
};

}  // namespace tilewise
