// 08  double_buffer          before: 07_conflict_free.cuh   after: 09_warp_tile.cuh
// Idea      cp.async fills the tiles of later phases while this one is computed: with two stages
//           that is double buffering. The next tile goes to another buffer, so that one barrier a
//           phase is enough
// Moves     as 07; A along k moves by elements (cp.async cannot transpose 16 bytes), B by chunks
// Honours   tiles: block, thread with repeat_m, repeat_n; stages (2 or more); copy cp_async;
//           vector_bytes as 06 (shared_a = shared_b = 16); pad:N
// Needs     sm_80; float32; any M, N, K; any strides; 16-byte copies as 06
// Uses      256 threads, 24.75 KiB of shared memory with 3 stages
// Limits    a warp's threads share few operands: 144 distinct words a k where 96 do, gone in 09
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"
#include "parts/outer_product.cuh"

namespace tilewise {

template <Constants kSchedule>
struct DoubleBufferMap {
  static constexpr SharedTile kTileA{kSchedule.block_k, kSchedule.block_m, kSchedule.pad_elements};
  static constexpr SharedTile kTileB{kSchedule.block_k, kSchedule.block_n, kSchedule.pad_elements};
  alignas(16) float a[kSchedule.stages][kTileA.elements()];
  alignas(16) float b[kSchedule.stages][kTileB.elements()];
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo double_buffer_launch(Constants schedule) {
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

template <Constants kSchedule, class Element, class Epilogue>
__device__ void double_buffer(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "double_buffer computes in float32: take rung 11 or 12 for others");
  static_assert(kSchedule.vector_shared_a_bytes == 16 && kSchedule.vector_shared_b_bytes == 16,
                "double_buffer reads shared memory by 16 bytes: rung 05 has 4, rung 10 both");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr int kRepeatM = kSchedule.repeat_m, kRepeatN = kSchedule.repeat_n;
  constexpr int kStages = kSchedule.stages;
  static_assert(kM % kThreadM == 0 && kN % kThreadN == 0, "thread tiles divide the block");
  static_assert(kStages >= 2, "double_buffer: stages is 2 or more; rung 07 has one");
  using Map = DoubleBufferMap<kSchedule>;
  static_assert(sizeof(Map) == double_buffer_launch(kSchedule).shared_bytes);
  constexpr int kThreads = double_buffer_launch(kSchedule).threads;
  constexpr bool kVector = kSchedule.aligned_16 && kSchedule.vector_global_bytes == 16;
  constexpr CopyLayout kCopyA{async_copy_mode(kSchedule.a_k_major, kVector), kK, kM, kThreads};
  constexpr CopyLayout kCopyB{async_copy_mode(kSchedule.b_k_major, kVector), kK, kN, kThreads};
  Map& shared = shared_map<Map>();

  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int64 m = int64{tile.m} * kM, n = int64{tile.n} * kN;
  const int thread = threadIdx.x;
  const int row = thread_element(kM, kThreadM, kRepeatM, thread / (kN / kThreadN), 0);
  const int column = thread_element(kN, kThreadN, kRepeatN, thread % (kN / kThreadN), 0);
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
      Fragment<Map::kTileA, kM, kThreadM, kRepeatM>::load(a, smem_a, j, row);
      Fragment<Map::kTileB, kN, kThreadN, kRepeatN>::load(b, smem_b, j, column);
      outer_product(accumulator, a, b);
    }
    full = full + 1 == kStages ? 0 : full + 1;
    empty = empty + 1 == kStages ? 0 : empty + 1;
  }

  store_thread_tile<Element, Epilogue, kM, kN, kRepeatM, kRepeatN>(arguments, batch, m + row,
                                                                   n + column, accumulator);
}

}  // namespace tilewise
