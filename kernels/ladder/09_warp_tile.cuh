// 09  warp_tile              before: 08_double_buffer.cuh   after: 10_tuned_f32.cuh
// Idea      the block's tile is cut into warp tiles near a square, and the lanes are laid over a
//           warp tile so that each 16-byte read is shared by neighbours: half the wavefronts
// Moves     as 08; distinct words of a warp: (warp.m + warp.n) a k instead of 16 + 128
// Honours   tiles: block, warp, thread with repeat_m, repeat_n; stages (2 or more); copy cp_async;
//           vector_bytes as 06 (shared_a = shared_b = 16); pad:N
// Needs     sm_80; float32; any M, N, K; any strides; 16-byte copies as 06
// Uses      256 threads, 49.5 KiB of shared memory with 3 stages
// Limits    fragments are read just before their use; the order of blocks is fixed: both gone in 10
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"
#include "parts/outer_product.cuh"

namespace tilewise {

template <Constants kSchedule>
struct WarpTileMap {
  static constexpr SharedTile kTileA{kSchedule.block_k, kSchedule.block_m, kSchedule.pad_elements};
  static constexpr SharedTile kTileB{kSchedule.block_k, kSchedule.block_n, kSchedule.pad_elements};
  alignas(16) float a[kSchedule.stages][kTileA.elements()];
  alignas(16) float b[kSchedule.stages][kTileB.elements()];
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo warp_tile_launch(Constants schedule) {
  LaunchInfo info;
  info.threads = schedule.block_m / schedule.thread_m * (schedule.block_n / schedule.thread_n);
  info.shared_bytes = 4 * schedule.stages * schedule.block_k *
                      (schedule.block_m + schedule.block_n + 2 * schedule.pad_elements);
  info.tile_m = schedule.block_m;
  info.tile_n = schedule.block_n;
  info.tile_k = schedule.block_k;
  info.blocks_per_sm = 2;
  return info;
}

// The first output of a thread, in the block's tile.
template <Constants kSchedule>
TILEWISE_HOST_DEVICE constexpr MN warp_tile_position(int thread) {
  constexpr int kWarpM = kSchedule.warp_m, kWarpN = kSchedule.warp_n;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr int kWarpsN = kSchedule.block_n / kWarpN;
  const int warp = thread / kWarpThreads;
  const MN lane = lane_position(thread % kWarpThreads, kWarpM / kThreadM, kWarpN / kThreadN);
  return {
      warp / kWarpsN * kWarpM + thread_element(kWarpM, kThreadM, kSchedule.repeat_m, lane.m, 0),
      warp % kWarpsN * kWarpN + thread_element(kWarpN, kThreadN, kSchedule.repeat_n, lane.n, 0)};
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void warp_tile(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "warp_tile computes in float32: take rung 11 or 12 for others");
  static_assert(kSchedule.vector_shared_a_bytes == 16 && kSchedule.vector_shared_b_bytes == 16,
                "warp_tile reads shared memory by 16 bytes: rung 05 has 4, rung 10 both");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr int kRepeatM = kSchedule.repeat_m, kRepeatN = kSchedule.repeat_n;
  constexpr int kStages = kSchedule.stages;
  constexpr int kWarpM = kSchedule.warp_m, kWarpN = kSchedule.warp_n;
  static_assert(kM % kWarpM == 0 && kN % kWarpN == 0, "warp tiles divide the block");
  static_assert(kWarpM / kThreadM * (kWarpN / kThreadN) == kWarpThreads,
                "32 thread tiles fill a warp tile: warp.m / thread.m * warp.n / thread.n = 32");
  static_assert(kStages >= 2, "warp_tile: stages is 2 or more; rung 07 has one");
  using Map = WarpTileMap<kSchedule>;
  static_assert(sizeof(Map) == warp_tile_launch(kSchedule).shared_bytes);
  constexpr int kThreads = warp_tile_launch(kSchedule).threads;
  constexpr bool kVector = kSchedule.aligned_16 && kSchedule.vector_global_bytes == 16;
  constexpr CopyLayout kCopyA{async_copy_mode(kSchedule.a_k_major, kVector), kK, kM, kThreads};
  constexpr CopyLayout kCopyB{async_copy_mode(kSchedule.b_k_major, kVector), kK, kN, kThreads};
  Map& shared = shared_map<Map>();

  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int64 m = int64{tile.m} * kM, n = int64{tile.n} * kN;
  const MN first = warp_tile_position<kSchedule>(threadIdx.x);
  TileCopy<kCopyA, Map::kTileA> copy_a(operand_a(arguments, batch, m, kM));
  TileCopy<kCopyB, Map::kTileB> copy_b(operand_b(arguments, batch, n, kN));

  // One group of copies a phase, also where there is nothing left to copy: the count of groups in
  // flight then says which phase has arrived.
  const bool inside = m + kM <= arguments.m && n + kN <= arguments.n;
  int64 k_copied = 0;
  const auto copy_phase = [&](int stage) {
    const unsigned smem_a = shared_address(shared.a[stage]),
                   smem_b = shared_address(shared.b[stage]);
    if (inside && k_copied + kK <= arguments.k) {
      copy_a.template copy_async<true>(smem_a, kK, kM);
      copy_b.template copy_async<true>(smem_b, kK, kN);
    } else if (k_copied < arguments.k) {
      const int k_left = clip(arguments.k, k_copied, kK);
      copy_a.template copy_async<false>(smem_a, k_left, clip(arguments.m, opaque(m), kM));
      copy_b.template copy_async<false>(smem_b, k_left, clip(arguments.n, opaque(n), kN));
    }
    copy_a.advance();
    copy_b.advance();
    k_copied += kK;
    cp_async_commit();
  };
  for (int stage = 0; stage < kStages - 1; ++stage) copy_phase(stage);

  float accumulator[kThreadM][kThreadN] = {};
  int full = 0, empty = kStages - 1;  // the stage to compute, the stage to fill
  for (int64 k = 0; k < arguments.k; k += kK) {
    cp_async_wait<kStages - 2>();
    // All threads: every thread's copies of this phase have arrived, and every thread is done with
    // the phase before, whose stage is filled next.
    __syncthreads();
    copy_phase(empty);

    const unsigned smem_a = shared_address(shared.a[full]), smem_b = shared_address(shared.b[full]);
#pragma unroll
    for (int j = 0; j < kK; ++j) {
      float a[kThreadM], b[kThreadN];
      Fragment<Map::kTileA, kWarpM, kThreadM, kRepeatM>::load(a, smem_a, j, first.m);
      Fragment<Map::kTileB, kWarpN, kThreadN, kRepeatN>::load(b, smem_b, j, first.n);
      outer_product(accumulator, a, b);
    }
    full = full + 1 == kStages ? 0 : full + 1;
    empty = empty + 1 == kStages ? 0 : empty + 1;
  }

  // Computed again rather than kept in registers through the loop.
  const MN at = warp_tile_position<kSchedule>(opaque(threadIdx.x));
  store_thread_tile<Element, Epilogue, kWarpM, kWarpN, kRepeatM, kRepeatN>(
      arguments, batch, m + at.m, n + at.n, accumulator);
}

}  // namespace tilewise
