// 05  square_tile            before: 04_column_tile.cuh   after: 06_vector_loads.cuh
// Idea      each thread owns thread.m x thread.n outputs; an element of A feeds thread.n
//           multiply-adds and one of B thread.m. A's tile is stored transposed: both are rows
// Moves     global  M K ceil(N / block.n) + K N ceil(M / block.m)
//           shared  M K tiles(N; block.n, thread.n) + K N tiles(M; block.m, thread.m)
// Honours   tiles: block, thread; vector_bytes (shared_a 4: each read of shared memory is 4 bytes;
//           16: the compiler may merge the reads of 4 neighbours)
// Needs     sm_80; float32; any M, N, K; any strides; no alignment
// Uses      256 threads, 8 KiB of shared memory
// Limits    4-way bank conflicts on B (2-way when merged) and on the transposed stores: gone in 07
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"
#include "parts/outer_product.cuh"

namespace tilewise {

template <Constants kSchedule>
struct SquareTileMap {
  alignas(16) float a[kSchedule.block_k][kSchedule.block_m];
  alignas(16) float b[kSchedule.block_k][kSchedule.block_n];
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo square_tile_launch(Constants schedule) {
  LaunchInfo info;
  info.threads = schedule.block_m / schedule.thread_m * (schedule.block_n / schedule.thread_n);
  info.shared_bytes = 4 * schedule.block_k * (schedule.block_m + schedule.block_n);
  info.tile_m = schedule.block_m;
  info.tile_n = schedule.block_n;
  info.tile_k = schedule.block_k;
  info.blocks_per_sm = 2;
  return info;
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void square_tile(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "square_tile computes in float32: take rung 11 or 12 for others");
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreadM = kSchedule.thread_m, kThreadN = kSchedule.thread_n;
  static_assert(kM % kThreadM == 0 && kN % kThreadN == 0, "thread tiles divide the block");
  constexpr int kThreads = square_tile_launch(kSchedule).threads;
  constexpr bool kMerge = kSchedule.vector_shared_a_bytes > 4;
  constexpr int kLanesAlongK =
      4;  // a compromise: sectors of A wasted against conflicts of its stores
  using Copy = CopyLayout;
  constexpr Copy kCopyA{copy_mode(kSchedule.a_k_major, false), kK, kM, kThreads, kLanesAlongK};
  constexpr Copy kCopyB{copy_mode(kSchedule.b_k_major, false), kK, kN, kThreads, kLanesAlongK};
  auto& shared = shared_map<SquareTileMap<kSchedule>>();

  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int64 m = int64{tile.m} * kM, n = int64{tile.n} * kN;
  const int thread = threadIdx.x;
  const int row = thread / (kN / kThreadN) * kThreadM, column = thread % (kN / kThreadN) * kThreadN;
  TileCopy<kCopyA, SharedTile{kK, kM}> copy_a(operand_a(arguments, batch, m, kM));
  TileCopy<kCopyB, SharedTile{kK, kN}> copy_b(operand_b(arguments, batch, n, kN));

  const int m_left = clip(arguments.m, m, kM), n_left = clip(arguments.n, n, kN);
  const int phases = static_cast<int>(num_tiles(arguments.k, kK));
  const int whole = m_left == kM && n_left == kN ? static_cast<int>(arguments.k / kK) : 0;

  float accumulator[kThreadM][kThreadN] = {};
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

#pragma unroll
    for (int j = 0; j < kK; ++j) {
      float a[kThreadM], b[kThreadN];
#pragma unroll
      for (int i = 0; i < kThreadM; ++i) {
        const float& element = shared.a[j][row + i];
        a[i] = kMerge ? element : ld_shared_f32(shared_address(&element));
      }
#pragma unroll
      for (int i = 0; i < kThreadN; ++i) {
        const float& element = shared.b[j][column + i];
        b[i] = kMerge ? element : ld_shared_f32(shared_address(&element));
      }
      outer_product(accumulator, a, b);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
    for (int j = 0; j < kThreadN; ++j)
      store_element<Element, Epilogue>(arguments, batch, m + row + i, n + column + j,
                                       accumulator[i][j]);
  }
}

}  // namespace tilewise
