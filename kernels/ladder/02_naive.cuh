// 02  naive                  before: 01_naive_rows.cuh   after: 03_shared_tile.cuh
// Idea      one thread an output; neighbouring threads take neighbouring columns, so that a warp
//           reads 32 neighbours of a row of B and one element of A for all
// Moves     global  2 M N K elements, in 4 + 1 sectors a warp and k instead of 32 + 1
// Honours   tiles: thread 1 x 1
// Needs     sm_80; float32; any M, N, K; any strides; no alignment
// Uses      512 threads, no shared memory
// Limits    every element of A is read N times, of B M times: gone in 03
// Measured  docs/ladder/README.md
#pragma once

#include "parts/arguments.cuh"
#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/order.cuh"

namespace tilewise {

constexpr int kNaiveM = 4;  // outputs of a block: threads along n, then along m
constexpr int kNaiveN = 128;

TILEWISE_HOST_DEVICE constexpr LaunchInfo naive_launch(Constants) {
  LaunchInfo info;
  info.threads = kNaiveM * kNaiveN;
  info.tile_m = kNaiveM;
  info.tile_n = kNaiveN;
  info.tile_k = 1;
  info.blocks_per_sm = 3;
  return info;
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void naive(const KernelArguments& arguments) {
  static_assert(kSame<Element, float>, "naive computes in float32: take rung 11 or 12 for others");
  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kNaiveM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kNaiveN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z;
  const int thread = threadIdx.x;
  const int64 m = int64{tile.m} * kNaiveM + thread / kNaiveN;
  const int64 n = int64{tile.n} * kNaiveN + thread % kNaiveN;
  if (m >= arguments.m || n >= arguments.n) return;

  const Operand a = operand_a(arguments, batch, m, 1);
  const Operand b = operand_b(arguments, batch, n, 1);
  const int64 a_stride = kSchedule.a_k_major ? 1 : a.k_stride;
  const int64 b_stride = kSchedule.b_k_major ? 1 : b.k_stride;
  float accumulator = 0.0f;
#pragma unroll 8
  for (int64 k = 0; k < arguments.k; ++k)
    accumulator += a.data[k * a_stride] * b.data[k * b_stride];

  store_element<Element, Epilogue>(arguments, batch, m, n, accumulator);
}

}  // namespace tilewise
