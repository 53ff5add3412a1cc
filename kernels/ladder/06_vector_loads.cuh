// 06  vector_loads           before: 05_square_tile.cuh   after: 07_conflict_free.cuh
// Idea      16 bytes an instruction, from global memory, from shared memory and to D: a quarter of
//           the load instructions of 05 for the same elements
// Moves     as 05, in chunks of 4 elements
// Honours   tiles: block, thread; vector_bytes (global 16: by 16 bytes where A and B allow it, 4:
//           by elements; shared_a = shared_b = 16)
// Needs     sm_80; float32; any M, N, K; any strides. 16-byte loads from global memory for operands
//           with a unit stride and rows on multiples of 16 bytes, elements for the others
// Uses      256 threads, 8 KiB of shared memory
// Limits    2-way bank conflicts on B and on the transposed stores of A, gone in 07
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"
#include "parts/outer_product.cuh"

namespace tilewise {

template <Constants kSchedule>
struct VectorLoadsMap {
  alignas(16) float a[kSchedule.block_k][kSchedule.block_m];
  alignas(16) float b[kSchedule.block_k][kSchedule.block_n];
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo vector_loads_launch(Constants schedule) {
  LaunchInfo info;
  info.threads = schedule.block_m / schedule.thread_m * (schedule.block_n / schedule.thread_n);
  info.shared_bytes = 4 * schedule.block_k * (schedule.block_m + schedule.block_n);
  info.tile_m = schedule.block_m;
  info.tile_n = schedule.block_n;
  info.tile_k = schedule.block_k;
  // The copy by elements keeps more addresses than 128 registers hold.
  info.blocks_per_sm = schedule.aligned_16 && schedule.vector_global_bytes == 16 ? 2 : 1;
  return info;
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void vector_loads(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "vector_loads computes in float32: take rung 11 or 12 for others");
  static_assert(kSchedule.vector_shared_a_bytes == 16 && kSchedule.vector_shared_b_bytes == 16,
                "vector_loads reads shared memory by 16 bytes: rung 05 has 4, rung 10 both");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  static_assert(kM % kThreadM == 0 && kN % kThreadN == 0, "thread tiles divide the block");
  constexpr int kThreads = vector_loads_launch(kSchedule).threads;
  constexpr bool kVector = kSchedule.aligned_16 && kSchedule.vector_global_bytes == 16;
  constexpr CopyLayout kCopyA{copy_mode(kSchedule.a_k_major, kVector), kK, kM, kThreads};
  constexpr CopyLayout kCopyB{copy_mode(kSchedule.b_k_major, kVector), kK, kN, kThreads};
  constexpr SharedTile kTileA{kK, kM}, kTileB{kK, kN};
  auto& shared = shared_map<VectorLoadsMap<kSchedule>>();
  const unsigned smem_a = shared_address(shared.a), smem_b = shared_address(shared.b);

  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int64 m = int64{tile.m} * kM, n = int64{tile.n} * kN;
  const int thread = threadIdx.x;
  const int row = thread / (kN / kThreadN) * kThreadM, column = thread % (kN / kThreadN) * kThreadN;
  TileCopy<kCopyA, kTileA> copy_a(operand_a(arguments, batch, m, kM));
  TileCopy<kCopyB, kTileB> copy_b(operand_b(arguments, batch, n, kN));

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
      Fragment<kTileA, kM, kThreadM, 1>::load(a, smem_a, j, row);
      Fragment<kTileB, kN, kThreadN, 1>::load(b, smem_b, j, column);
      outer_product(accumulator, a, b);
    }
    __syncthreads();
  }

  store_thread_tile<Element, Epilogue, kM, kN, 1, 1>(arguments, batch, m + row, n + column,
                                                     accumulator);
}

}  // namespace tilewise
