// Partial sums of a split K or stream-K in the workspace (LaunchInfo says its layout). A group of
// threads that holds a part of an output tile in registers writes it, adds it, or collects it;
// register r of thread t lies at r * threads + t, so that neighbours write neighbours.
#pragma once

#include "parts/arguments.cuh"
#include "parts/ptx.cuh"
#include "parts/ptx_barrier.cuh"
#include "parts/work_list.cuh"

namespace tilewise {

constexpr int64 kPartialsAlignmentBytes = 256;

// Threads that hold a part of a tile: the whole block, or each of its warpgroups.
struct ThreadGroup {
  int index, count;     // this group, of the groups that hold a tile together
  int thread, threads;  // this thread of the group
  int barrier;          // a named barrier of its own
  int* flag;            // in shared memory, its own
};

// What a kernel that calls collect_partials asks for.
TILEWISE_HOST_DEVICE constexpr void ask_for_workspace(LaunchInfo& info, const Constants& c,
                                                      int groups) {
  if (c.split_k == 1 && !c.stream_k) return;
  info.counters_per_tile = groups;
  info.partials_per_tile = c.stream_k ? 0 : c.split_atomic ? 1 : c.split_k;
  info.partials_per_block = c.stream_k ? 1 : 0;
  info.zero_partials = c.split_atomic;
}

template <int kRegisters>
__device__ inline void add_from_partial(float (&sum)[kRegisters], const float* from,
                                        const ThreadGroup& group) {
#pragma unroll
  for (int r = 0; r < kRegisters; ++r) sum[r] += from[r * group.threads + group.thread];
}

// After a group has its sum of a work: whether that is now the whole sum of its part of the tile.
// If not, it has been left to another block. Sums are added in the order of k, so the bits are the
// same every time, but for split_atomic.
template <Constants c, int kRegisters>
__device__ inline bool collect_partials(float (&sum)[kRegisters], const KernelArguments& arguments,
                                        const WorkList<c>& list, const Work<c>& work,
                                        const ThreadGroup& group) {
  static_assert(!c.stream_k || c.split_k == 1, "stream-K already splits K: set split_k to 1");
  if constexpr (c.split_k == 1 && !c.stream_k) return true;
  constexpr int64 kTile = static_cast<int64>(c.block_m) * c.block_n;
  const int64 bytes = list.num_tiles() * list.batches * group.count * sizeof(unsigned);
  const int64 first =
      (bytes + kPartialsAlignmentBytes - 1) / kPartialsAlignmentBytes * kPartialsAlignmentBytes;
  float* partials = reinterpret_cast<float*>(static_cast<char*>(arguments.workspace) + first) +
                    group.index * (kTile / group.count);
  const int64 tile = list.tile_index(work);
  unsigned* counter =
      static_cast<unsigned*>(arguments.workspace) + tile * group.count + group.index;

  const bool leave = !c.stream_k || work.k_begin > 0;
  if (leave) {
    float* to = partials + kTile * (c.stream_k       ? static_cast<int64>(blockIdx.x)
                                    : c.split_atomic ? tile
                                                     : tile * c.split_k + work.way);
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) {
      float* at = to + r * group.threads + group.thread;
      if constexpr (c.split_atomic) {
        red_add_f32(at, sum[r]);
      } else {
        *at = sum[r];
      }
    }
    named_barrier_sync(group.barrier, group.threads);
    if (group.thread == 0) {
      *group.flag = atom_add_acq_rel_gpu(counter, 1) == static_cast<unsigned>(c.split_k - 1);
    }
    if constexpr (c.stream_k) return false;
    named_barrier_sync(group.barrier, group.threads);
    if (*group.flag == 0) return false;
  }

  int others = c.split_atomic ? 1 : c.split_k;
  const float* from = partials + kTile * tile * others;
  if constexpr (c.stream_k) {
    others = list.num_others(work);
    from = partials + kTile * (blockIdx.x + WorkList<c>::kClusterBlocks);
    if (group.thread == 0) {
      while (atom_add_acq_rel_gpu(counter, 0) < static_cast<unsigned>(others)) {
      }
    }
    named_barrier_sync(group.barrier, group.threads);
  } else {
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) sum[r] = 0.0f;
  }
#pragma unroll 1
  for (int other = 0; other < others; ++other) {
    add_from_partial(sum, from, group);
    from += kTile * (c.stream_k ? WorkList<c>::kClusterBlocks : 1);
  }
  return true;
}

}  // namespace tilewise
