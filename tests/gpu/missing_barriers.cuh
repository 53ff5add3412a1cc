// Rung 03 with one of its two barriers removed: wrong on purpose, to show what each is for. One
// warp is delayed, so that the race is lost every time. Never reached by a schedule; the tests in
// this folder compile it in the place of ladder/03_shared_tile.cuh.
#pragma once

#include "ladder/03_shared_tile.cuh"

namespace tilewise {

constexpr int kLateWarp = 1;
constexpr unsigned kDelayNs = 100000;

__device__ inline void delay_one_warp(int thread) {
  if (thread / kWarpThreads == kLateWarp) __nanosleep(kDelayNs);
}

// kFirst: without the barrier between writing the tiles and reading them: others read what the late
// warp has not written. Otherwise without the barrier between reading and overwriting: the late
// warp reads elements of the next phase.
template <Constants kSchedule, class Element, class Epilogue, bool kFirst>
__device__ void missing_barrier(const KernelArguments& arguments) {
  constexpr int kM = kSchedule.block_m, kN = kSchedule.block_n, kK = kSchedule.block_k;
  constexpr int kThreads = kM * kN;
  constexpr CopyLayout kCopyA{copy_mode(kSchedule.a_k_major, false), kK, kM, kThreads, kK};
  constexpr CopyLayout kCopyB{copy_mode(kSchedule.b_k_major, false), kK, kN, kThreads, kK};
  constexpr SharedTile kTileA{.k = kK, .x = kM, .by_columns = true}, kTileB{kK, kN};
  auto& shared = shared_map<SharedTileMap<kSchedule>>();

  const int tiles_m = static_cast<int>(num_tiles(arguments.m, kM));
  const int tiles_n = static_cast<int>(num_tiles(arguments.n, kN));
  const TilePosition tile = block_tile(kOrderRow, 1, kAxisM, tiles_m, tiles_n, blockIdx.x);
  const int64 batch = blockIdx.z, m = int64{tile.m} * kM, n = int64{tile.n} * kN;
  const int thread = threadIdx.x, row = thread / kN, column = thread % kN;
  const int m_left = clip(arguments.m, m, kM), n_left = clip(arguments.n, n, kN);
  TileCopy<kCopyA, kTileA> copy_a(operand_a(arguments, batch, m, kM));
  TileCopy<kCopyB, kTileB> copy_b(operand_b(arguments, batch, n, kN));

  float accumulator = 0.0f;
  for (int64 k = 0; k < arguments.k; k += kK) {
    const int k_left = clip(arguments.k, k, kK);
    float reg_a[decltype(copy_a)::kPieces], reg_b[decltype(copy_b)::kPieces];
    copy_a.template load<false>(reg_a, k_left, m_left);
    copy_b.template load<false>(reg_b, k_left, n_left);
    if constexpr (kFirst) delay_one_warp(thread);
    copy_a.store(shared_address(shared.a), reg_a);
    copy_b.store(shared_address(shared.b), reg_b);
    copy_a.advance();
    copy_b.advance();
    if constexpr (!kFirst) __syncthreads();

    if constexpr (!kFirst) delay_one_warp(thread);
#pragma unroll 4
    for (int j = 0; j < kK; ++j)
      accumulator += read_shared<false>(shared.a[row][j]) * read_shared<false>(shared.b[j][column]);
    if constexpr (kFirst) __syncthreads();
  }
  store_element<Element, Epilogue>(arguments, batch, m + row, n + column, accumulator);
}

TILEWISE_HOST_DEVICE constexpr LaunchInfo missing_first_barrier_launch(Constants schedule) {
  return shared_tile_launch(schedule);
}
TILEWISE_HOST_DEVICE constexpr LaunchInfo missing_second_barrier_launch(Constants schedule) {
  return shared_tile_launch(schedule);
}

template <Constants kSchedule, class Element, class Epilogue>
__device__ void missing_first_barrier(const KernelArguments& arguments) {
  missing_barrier<kSchedule, Element, Epilogue, true>(arguments);
}
template <Constants kSchedule, class Element, class Epilogue>
__device__ void missing_second_barrier(const KernelArguments& arguments) {
  missing_barrier<kSchedule, Element, Epilogue, false>(arguments);
}

}  // namespace tilewise
