// 10  tuned_f32              before: 09_warp_tile.cuh   after: 11_wmma.cuh
// Idea      the fragments of the next k are read while this one's are multiplied, also across the
//           barrier; a wide block, whose copies cost few instructions; and every option of the
//           schedule, each of which can be switched on alone
// Moves     as 09; with K split in w parts also 2 w M N elements of workspace
// Honours   tiles: block, warp, thread with repeat_m, repeat_n; stages (2 or more); copy cp_async;
//           vector_bytes (global, shared_a, shared_b: 4 or 16); shared_layout (pad:N, swizzle:N);
//           order; split_k (second_pass, atomic); stream_k; persistent
// Needs     sm_80; float32; any M, N, K; any strides. 16-byte copies for operands that are
//           contiguous along m or n, with rows on multiples of 16 bytes; elements for the others
// Uses      256 threads, 42.3 KiB of shared memory with 2 stages
// Limits    A along k moves by elements of 4 bytes: cp.async cannot transpose
// Measured  docs/ladder/10.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"
#include "parts/outer_product.cuh"
#include "parts/partial_sums.cuh"
#include "parts/segments.cuh"

namespace tilewise {

template <Constants kSchedule>
struct TunedMap {
  static constexpr SharedTile kTileA{kSchedule.block_k, kSchedule.block_m, kSchedule.pad_elements,
                                     kSchedule.swizzle_bytes};
  static constexpr SharedTile kTileB{kSchedule.block_k, kSchedule.block_n, kSchedule.pad_elements,
                                     kSchedule.swizzle_bytes};
  float a[kSchedule.stages][kTileA.elements()];
  float b[kSchedule.stages][kTileB.elements()];
  alignas(16) GridWork work;  // the grid's
  Segment segment;            // what the block works on
  unsigned ticket;            // of a tile whose K is split
  int m_left, n_left;         // of the tile: what exists
};

constexpr int kTunedRegistersPerSm = 65536;
constexpr int kTunedSharedBytesPerSm = 227 * 1024;
constexpr int kTunedSharedReservedBytes = 1024;  // of each block, by the system
constexpr int kTunedOtherBytes = 64;             // the map's last fields
constexpr int kTunedOtherRegisters = 32;         // addresses and counters of a thread
constexpr int kTunedLoopRegisters = 16;          // more, where a block computes parts of many tiles

TILEWISE_HOST_DEVICE constexpr LaunchInfo tuned_f32_launch(Constants schedule) {
  const int outputs = schedule.thread_m * schedule.thread_n;
  LaunchInfo info;
  info.threads = schedule.block_m * schedule.block_n / outputs;
  info.shared_bytes = 4 * schedule.stages * schedule.block_k *
                          (schedule.block_m + schedule.block_n + 2 * schedule.pad_elements) +
                      kTunedOtherBytes;
  info.tile_m = schedule.block_m;
  info.tile_n = schedule.block_n;
  info.tile_k = schedule.block_k;
  info.persistent = schedule.persistent || schedule.stream_k;
  const int registers =
      outputs + 2 * (schedule.thread_m + schedule.thread_n) + kTunedOtherRegisters +
      (info.persistent && (schedule.stream_k || schedule.split_k > 1) ? kTunedLoopRegisters : 0);
  const int by_registers = kTunedRegistersPerSm / (registers * info.threads);
  const int by_shared = kTunedSharedBytesPerSm / (info.shared_bytes + kTunedSharedReservedBytes);
  info.blocks_per_sm = by_registers < by_shared ? by_registers : by_shared;
  if (info.blocks_per_sm < 1) info.blocks_per_sm = 1;
  ask_for_workspace(info, schedule);
  return info;
}

// The first output of a thread, in the block's tile.
template <Constants kSchedule>
TILEWISE_HOST_DEVICE constexpr MN tuned_position(int thread) {
  constexpr int kWarpM = kSchedule.warp_m, kWarpN = kSchedule.warp_n;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr int kWarpsN = kSchedule.block_n / kWarpN;
  const int warp = thread / kWarpThreads;
  const MN lane = lane_position(thread % kWarpThreads, kWarpM / kThreadM, kWarpN / kThreadN);
  return {
      warp / kWarpsN * kWarpM + thread_element(kWarpM, kThreadM, kSchedule.repeat_m, lane.m, 0),
      warp % kWarpsN * kWarpN + thread_element(kWarpN, kThreadN, kSchedule.repeat_n, lane.n, 0)};
}

struct TunedTile {
  int64 batch, m, n;  // first row and column
};

// The tile of an index in launch order, batch by batch.
template <Constants kSchedule>
__device__ inline TunedTile tuned_tile(const KernelArguments& arguments, int64 index) {
  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kSchedule.block_m));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kSchedule.block_n));
  const int64 tiles = int64{tiles_m} * tiles_n;
  const TilePosition at = block_tile(kSchedule.order, kSchedule.order_group, kSchedule.order_axis,
                                     tiles_m, tiles_n, static_cast<int>(index % tiles));
  return {index / tiles, int64{at.m} * kSchedule.block_m, int64{at.n} * kSchedule.block_n};
}

// accumulator = the product of phases [k_begin, k_end) for the block's tile.
template <Constants kSchedule>
__device__ inline void tuned_product(float (&accumulator)[kSchedule.thread_m][kSchedule.thread_n],
                                     const KernelArguments& arguments, TunedMap<kSchedule>& shared,
                                     const TunedTile& tile, int k_begin, int k_end) {
  using Map = TunedMap<kSchedule>;
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr int kStages = kSchedule.stages;
  constexpr int kThreads = tuned_f32_launch(kSchedule).threads;
  constexpr bool kVector = kSchedule.aligned_16 && kSchedule.vector_global_bytes == 16;
  constexpr CopyLayout kCopyA{async_copy_mode(kSchedule.a_k_major, kVector), kK, kM, kThreads};
  constexpr CopyLayout kCopyB{async_copy_mode(kSchedule.b_k_major, kVector), kK, kN, kThreads};
  using FragmentA = Fragment<Map::kTileA, kSchedule.warp_m, kThreadM, kSchedule.repeat_m,
                             kSchedule.vector_shared_a_bytes>;
  using FragmentB = Fragment<Map::kTileB, kSchedule.warp_n, kThreadN, kSchedule.repeat_n,
                             kSchedule.vector_shared_b_bytes>;
  TileCopy<kCopyA, Map::kTileA> copy_a(operand_a(arguments, tile.batch, tile.m, kM));
  TileCopy<kCopyB, Map::kTileB> copy_b(operand_b(arguments, tile.batch, tile.n, kN));
  copy_a.advance(k_begin);
  copy_b.advance(k_begin);

  // One group of copies a phase, also where nothing is left to copy: the number of groups in flight
  // then says which phase has arrived. The first `whole` phases exist in full.
  const int phases = k_end - k_begin;
  const int m_left = clip(arguments.m, tile.m, kM), n_left = clip(arguments.n, tile.n, kN);
  const int whole = m_left == kM && n_left == kN ? static_cast<int>(arguments.k / kK) - k_begin : 0;
  if (threadIdx.x == 0) {
    shared.m_left = m_left;
    shared.n_left = n_left;
  }
  __syncthreads();
  const auto copy_phase = [&](int phase, int stage) {
    const unsigned smem_a = shared_address(shared.a[stage]),
                   smem_b = shared_address(shared.b[stage]);
    if (phase < phases && phase < whole) {
      copy_a.template copy_async<true>(smem_a, kK, kM);
      copy_b.template copy_async<true>(smem_b, kK, kN);
    } else if (phase < phases) {
      const int k_left = clip(arguments.k, int64{shared.segment.k_begin + phase} * kK, kK);
      copy_a.template copy_async<false>(smem_a, k_left, shared.m_left);
      copy_b.template copy_async<false>(smem_b, k_left, shared.n_left);
    }
    copy_a.advance();
    copy_b.advance();
    cp_async_commit();
  };
#pragma unroll 1
  for (int phase = 0; phase < kStages - 1; ++phase) copy_phase(phase, phase);

#pragma unroll
  for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
    for (int j = 0; j < kThreadN; ++j) accumulator[i][j] = 0.0f;
  }
  if (phases <= 0) return;

  // Two sets of fragments: one is multiplied, the other read.
  const MN first = tuned_position<kSchedule>(opaque(threadIdx.x));
  float a[2][kThreadM], b[2][kThreadN];
  int full = 0;  // the stage to compute; the one before it is free
  cp_async_wait<kStages - 2>();
  __syncthreads();
  FragmentA::load(a[0], shared_address(shared.a[full]), 0, first.m);
  FragmentB::load(b[0], shared_address(shared.b[full]), 0, first.n);
  static_assert(kK % 2 == 0, "block.k is even: two sets of fragments alternate");

#pragma unroll 1
  for (int phase = 0; phase < phases; ++phase) {
#pragma unroll
    for (int j = 0; j < kK; ++j) {
      if (j == kK - 1) {
        // All threads: every thread's copies of the next phase have arrived, and every thread has
        // read the last fragments of this one, whose stage is filled next.
        cp_async_wait<kStages - 2>();
        __syncthreads();
        full = full + 1 == kStages ? 0 : full + 1;
      }
      if (j < kK - 1 || phase + 1 < phases) {
        FragmentA::load(a[(j + 1) % 2], shared_address(shared.a[full]), (j + 1) % kK, first.m);
        FragmentB::load(b[(j + 1) % 2], shared_address(shared.b[full]), (j + 1) % kK, first.n);
      }
      if (j == 0) copy_phase(phase + kStages - 1, full == 0 ? kStages - 1 : full - 1);
      outer_product(accumulator, a[j % 2], b[j % 2]);
    }
  }
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void tuned_f32(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "tuned_f32 computes in float32: take rung 11 or 12 for others");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kWarpM = kSchedule.warp_m, kWarpN = kSchedule.warp_n;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr LaunchInfo kLaunch = tuned_f32_launch(kSchedule);
  static_assert(kM % kWarpM == 0 && kN % kWarpN == 0, "warp tiles divide the block");
  static_assert(kWarpM / kThreadM * (kWarpN / kThreadN) == kWarpThreads,
                "32 thread tiles fill a warp tile: warp.m / thread.m * warp.n / thread.n = 32");
  static_assert(kSchedule.stages >= 2, "tuned_f32: stages is 2 or more; rung 07 has one");
  static_assert(!kSchedule.stream_k || kSchedule.split_k == 1, "split K or stream it, not both");
  static_assert(sizeof(TunedMap<kSchedule>) == kLaunch.shared_bytes);
  auto& shared = shared_map<TunedMap<kSchedule>>();

  // What is the same for all threads is kept in shared memory, not in registers.
  if (threadIdx.x == 0) {
    const int64 tiles = num_tiles(arguments.m, kM) * num_tiles(arguments.n, kN);
    shared.work = GridWork{tiles * arguments.batch, static_cast<int>(num_tiles(arguments.k, kK)),
                           static_cast<int>(gridDim.x)};
    shared.segment = first_segment(kSchedule, shared.work, tiles, blockIdx.x,
                                   static_cast<int>(blockIdx.y), blockIdx.z);
  }
  for (;;) {
    __syncthreads();
    if (shared.segment.parts == 0) return;
    float accumulator[kThreadM][kThreadN];
    tuned_product<kSchedule>(accumulator, arguments, shared,
                             tuned_tile<kSchedule>(arguments, shared.segment.tile),
                             shared.segment.k_begin, shared.segment.k_end);

    const TunedTile tile = tuned_tile<kSchedule>(arguments, opaque(shared.segment.tile));
    bool complete = true;
    if constexpr (kSchedule.stream_k || kSchedule.split_k > 1) {
      const int64 tiles_m = num_tiles(arguments.m, kM), tiles_n = num_tiles(arguments.n, kN);
      const int64 index = (tile.batch * tiles_m + tile.m / kM) * tiles_n + tile.n / kN;
      if (shared.segment.parts > 1)
        complete = add_partial_sums<kSchedule, kLaunch.threads>(
            accumulator, arguments, index, shared.work.tiles, shared.segment.part,
            shared.segment.parts, shared.ticket);
    }
    const MN mine = tuned_position<kSchedule>(opaque(threadIdx.x));
    if (complete)
      store_thread_tile<Element, Epilogue, kWarpM, kWarpN, kSchedule.repeat_m, kSchedule.repeat_n>(
          arguments, tile.batch, tile.m + mine.m, tile.n + mine.n, accumulator);

    if constexpr (!kLaunch.persistent) return;
    __syncthreads();
    if (threadIdx.x == 0)
      shared.segment = next_segment(kSchedule, shared.work, blockIdx.x, shared.segment);
  }
}

}  // namespace tilewise
