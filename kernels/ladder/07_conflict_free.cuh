// 07  conflict_free          before: 06_vector_loads.cuh   after: 08_double_buffer.cuh
// Idea      no two threads of a wavefront meet in a bank: rows of shared memory are padded or
//           swizzled for the transposed stores, thread tiles split in strided pieces for the loads
// Moves     as 06
// Honours   tiles: block, thread with repeat_m, repeat_n; vector_bytes as 06 (shared_a = shared_b =
//           16); shared_layout (pad:N or swizzle:N)
// Needs     sm_80; float32; any M, N, K; any strides; 16-byte loads as 06
// Uses      256 threads, 10 KiB of shared memory
// Limits    a phase waits for its loads, gone in 08
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"
#include "parts/outer_product.cuh"

namespace tilewise {

template <Constants kSchedule>
struct ConflictFreeMap {
  static constexpr SharedTile kTileA{kSchedule.block_k, kSchedule.block_m, kSchedule.pad_elements,
                                     kSchedule.swizzle_bytes};
  static constexpr SharedTile kTileB{kSchedule.block_k, kSchedule.block_n, kSchedule.pad_elements,
                                     kSchedule.swizzle_bytes};
  alignas(1024) float a[kTileA.elements()];
  alignas(1024) float b[kTileB.elements()];
};

TILEWISE_HOST_DEVICE constexpr int conflict_free_bytes(int elements) {
  return (4 * elements + 1023) / 1024 * 1024;
}

TILEWISE_HOST_DEVICE constexpr LaunchInfo conflict_free_launch(Constants schedule) {
  const int pad = schedule.pad_elements;
  LaunchInfo info;
  info.threads = schedule.block_m / schedule.thread_m * (schedule.block_n / schedule.thread_n);
  info.shared_bytes = conflict_free_bytes(schedule.block_k * (schedule.block_m + pad)) +
                      conflict_free_bytes(schedule.block_k * (schedule.block_n + pad));
  info.tile_m = schedule.block_m;
  info.tile_n = schedule.block_n;
  info.tile_k = schedule.block_k;
  // The swizzle and the copy by elements keep more addresses than 128 registers hold.
  const bool vector = schedule.aligned_16 && schedule.vector_global_bytes == 16;
  info.blocks_per_sm = vector && schedule.swizzle_bytes == 0 ? 2 : 1;
  return info;
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void conflict_free(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "conflict_free computes in float32: take rung 11 or 12 for others");
  static_assert(kSchedule.vector_shared_a_bytes == 16 && kSchedule.vector_shared_b_bytes == 16,
                "conflict_free reads shared memory by 16 bytes: rung 05 has 4, rung 10 both");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  constexpr int kRepeatM = kSchedule.repeat_m, kRepeatN = kSchedule.repeat_n;
  static_assert(kM % kThreadM == 0 && kN % kThreadN == 0, "thread tiles divide the block");
  using Map = ConflictFreeMap<kSchedule>;
  static_assert(sizeof(Map) == conflict_free_launch(kSchedule).shared_bytes);
  constexpr int kThreads = conflict_free_launch(kSchedule).threads;
  constexpr bool kVector = kSchedule.aligned_16 && kSchedule.vector_global_bytes == 16;
  constexpr CopyLayout kCopyA{copy_mode(kSchedule.a_k_major, kVector), kK, kM, kThreads};
  constexpr CopyLayout kCopyB{copy_mode(kSchedule.b_k_major, kVector), kK, kN, kThreads};
  Map& shared = shared_map<Map>();
  const unsigned smem_a = shared_address(shared.a), smem_b = shared_address(shared.b);

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

  const int m_left = clip(arguments.m, m, kM), n_left = clip(arguments.n, n, kN);
  const int phases = static_cast<int>(num_tiles(arguments.k, kK));
  const int whole = m_left == kM && n_left == kN ? static_cast<int>(arguments.k / kK) : 0;

  float accumulator[kThreadM][kThreadN] = {};
  for (int phase = 0; phase < phases; ++phase) {
    // Global -> registers -> shared.
    float reg_a[decltype(copy_a)::kPieces * decltype(copy_a)::kWidth],
        reg_b[decltype(copy_b)::kPieces * decltype(copy_b)::kWidth];
    if (phase < whole) {
      copy_a.template load<true>(reg_a, kK, kM);
      copy_b.template load<true>(reg_b, kK, kN);
    } else {
      const int k_left = clip(arguments.k, int64{phase} * kK, kK);
      copy_a.template load<false>(reg_a, k_left, m_left);
      copy_b.template load<false>(reg_b, k_left, n_left);
    }
    copy_a.store(smem_a, reg_a);
    copy_b.store(smem_b, reg_b);
    copy_a.advance();
    copy_b.advance();
    __syncthreads();

#pragma unroll
    for (int j = 0; j < kK; ++j) {
      float a[kThreadM], b[kThreadN];
      Fragment<Map::kTileA, kM, kThreadM, kRepeatM>::load(a, smem_a, j, row);
      Fragment<Map::kTileB, kN, kThreadN, kRepeatN>::load(b, smem_b, j, column);
      outer_product(accumulator, a, b);
    }
    __syncthreads();
  }

  store_thread_tile<Element, Epilogue, kM, kN, kRepeatM, kRepeatN>(arguments, batch, m + row,
                                                                   n + column, accumulator);
}

}  // namespace tilewise
