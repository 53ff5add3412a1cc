// Barriers of a part of a block's threads.
#pragma once

namespace tilewise {

// `threads` threads meet at barrier `id` (0 to 15; 0 is that of __syncthreads).
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// Counts as having met without waiting.
__device__ inline void named_barrier_arrive(int id, int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace tilewise
