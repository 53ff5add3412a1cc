// 01  naive_rows             before: none   after: 02_naive.cuh
// Idea      one thread an output; neighbouring threads take neighbouring rows
// Moves     global  2 M N K elements
// Honours   tiles: thread 1 x 1
// Needs     sm_80; float32; any M, N, K; any strides; no alignment
// Uses      1024 threads, no shared memory
// Limits    a warp reads 32 rows of A at the same k: 32 sectors for 32 elements, gone in 02
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"

namespace tilewise {

constexpr int kNaiveRowsM = 32;  // outputs of a block: threads along m, then along n
constexpr int kNaiveRowsN = 32;

TILEWISE_HOST_DEVICE constexpr LaunchInfo naive_rows_launch(Constants) {
  LaunchInfo info;
  info.threads = kNaiveRowsM * kNaiveRowsN;
  info.tile_m = kNaiveRowsM;
  info.tile_n = kNaiveRowsN;
  info.tile_k = 1;
  info.blocks_per_sm = 2;
  return info;
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void naive_rows(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>,
                "naive_rows computes in float32: take rung 11 or 12 for others");
  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kNaiveRowsM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kNaiveRowsN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int thread = threadIdx.x;
  const int64 m = int64{tile.m} * kNaiveRowsM + thread % kNaiveRowsM;
  const int64 n = int64{tile.n} * kNaiveRowsN + thread / kNaiveRowsM;
  if (m >= arguments.m || n >= arguments.n) return;

  const Operand a = operand_a(arguments, batch, m, 1);
  const Operand b = operand_b(arguments, batch, n, 1);
  const int64 a_stride = kSchedule.a_k_major ? 1 : a.k_stride;
  const int64 b_stride = kSchedule.b_k_major ? 1 : b.k_stride;
  float accumulator = 0.0f;
#pragma unroll 4
  for (int64 k = 0; k < arguments.k; ++k)
    accumulator += a.data[k * a_stride] * b.data[k * b_stride];

  store_element<Element, Epilogue>(arguments, batch, m, n, accumulator);
}

}  // namespace tilewise
