// 04  column_tile            before: 03_shared_tile.cuh   after: 05_square_tile.cuh
// Idea      each thread owns a column of thread.m outputs: one element of B, held in a register,
//           feeds thread.m multiply-adds
// Moves     global  M K ceil(N / block.n) + K N ceil(M / block.m)
//           shared  M K N + K N tiles(M; block.m, thread.m)
// Honours   tiles: block, thread (n = 1); vector_bytes (shared_a 4: each read of A is 4 bytes; 16:
//           the compiler may merge the reads of 4 neighbours along k)
// Needs     sm_80; float32; any M, N, K; any strides; no alignment
// Uses      512 threads, 4 KiB of shared memory
// Limits    more than one read of shared memory a multiply-add, gone in 05
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"

namespace tilewise {

template <Constants kSchedule>
struct ColumnTileMap {
  alignas(16) float a[kSchedule.block_m][kSchedule.block_k];
  alignas(16) float b[kSchedule.block_k][kSchedule.block_n];
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo column_tile_launch(Constants schedule) {
  LaunchInfo info;
  info.threads = schedule.block_m / schedule.thread_m * schedule.block_n;
  info.shared_bytes = 4 * schedule.block_k * (schedule.block_m + schedule.block_n);
  info.tile_m = schedule.block_m;
  info.tile_n = schedule.block_n;
  info.tile_k = schedule.block_k;
  // Merged reads hold 4 elements of 8 rows at a time, twice the registers.
  info.blocks_per_sm = schedule.vector_shared_a_bytes > 4 ? 2 : 4;
  return info;
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void column_tile(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "column_tile computes in float32: take rung 11 or 12 for others");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kOutputs = kSchedule.thread_m;
  static_assert(kSchedule.thread_n == 1 && kM % kOutputs == 0,
                "column_tile: the thread tile is n = 1 and divides the block; rung 05 has others");
  constexpr int kThreads = kM / kOutputs * kN;
  constexpr bool kMerge = kSchedule.vector_shared_a_bytes > 4;
  constexpr CopyLayout kCopyA{copy_mode(kSchedule.a_k_major, false), kK, kM, kThreads, kK};
  constexpr CopyLayout kCopyB{copy_mode(kSchedule.b_k_major, false), kK, kN, kThreads, kK};
  constexpr SharedTile kTileA{.k = kK, .x = kM, .by_columns = true}, kTileB{kK, kN};
  auto& shared = shared_map<ColumnTileMap<kSchedule>>();

  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int64 m = int64{tile.m} * kM, n = int64{tile.n} * kN;
  TileCopy<kCopyA, kTileA> copy_a(operand_a(arguments, batch, m, kM));
  TileCopy<kCopyB, kTileB> copy_b(operand_b(arguments, batch, n, kN));
  const int m_left = clip(arguments.m, m, kM), n_left = clip(arguments.n, n, kN);
  const int phases = static_cast<int>(num_tiles(arguments.k, kK));
  const int whole = m_left == kM && n_left == kN ? static_cast<int>(arguments.k / kK) : 0;
  const int thread = threadIdx.x, row = thread / kN * kOutputs, column = thread % kN;

  float accumulator[kOutputs] = {};
  float reg_a[decltype(copy_a)::kPieces], reg_b[decltype(copy_b)::kPieces];
  const auto load = [&](int phase) {  // global -> registers; what does not exist becomes zero
    if (phase < whole) {
      copy_a.template load<true>(reg_a, kK, kM);
      copy_b.template load<true>(reg_b, kK, kN);
    } else {
      const int k_left = clip(arguments.k, int64{phase} * kK, kK);
      copy_a.template load<false>(reg_a, k_left, m_left);
      copy_b.template load<false>(reg_b, k_left, n_left);
    }
    copy_a.advance();
    copy_b.advance();
  };
  load(0);
  for (int phase = 0; phase < phases; ++phase) {
    copy_a.store(shared_address(shared.a), reg_a);
    copy_b.store(shared_address(shared.b), reg_b);
    __syncthreads();
    if (phase + 1 < phases) load(phase + 1);  // arrives during the multiplications

#pragma unroll 4  // more would not fit in registers when merged
    for (int j = 0; j < kK; ++j) {
      const float reg_b = ld_shared_f32(shared_address(&shared.b[j][column]));
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) {
        const float& element = shared.a[row + i][j];
        accumulator[i] += (kMerge ? element : ld_shared_f32(shared_address(&element))) * reg_b;
      }
    }
    __syncthreads();
  }

  // Computed again rather than kept in registers through the loop.
  const int again = static_cast<int>(opaque(threadIdx.x));
  const TilePosition at =
      block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, static_cast<int>(opaque(blockIdx.x)));
  const int64 first_m = int64{at.m} * kM + again / kN * kOutputs;
#pragma unroll
  for (int i = 0; i < kOutputs; ++i)
    store_element<Element, Epilogue>(arguments, blockIdx.z, first_m + i,
                                     int64{at.n} * kN + again % kN, accumulator[i]);
}

}  // namespace tilewise
