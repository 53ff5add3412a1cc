// How the partial sums of a tile whose K is split become one. The block that arrives last adds them
// up, in the order of the parts whichever that is, so the bits do not depend on timing (except with
// atomics). No block ever waits. The workspace is laid out as arguments.cuh says.
#pragma once

#include "parts/arguments.cuh"
#include "parts/host_device.cuh"
#include "parts/layout.cuh"
#include "parts/ptx.cuh"

namespace tilewise {

// What a kernel that uses this file asks of the host.
TILEWISE_HOST_DEVICE constexpr void ask_for_workspace(LaunchInfo& info, const Constants& schedule) {
  if (!schedule.stream_k && schedule.split_k == 1) return;
  info.counters_per_tile = 1;
  if (schedule.stream_k) {
    info.partials_per_block = 2;
  } else {
    info.partials_per_tile = schedule.split_atomic ? 1 : schedule.split_k;
    info.zero_partials = schedule.split_atomic;
  }
}

TILEWISE_HOST_DEVICE constexpr int64 counter_bytes(int64 counters) {
  constexpr int64 kAlignment = 256;
  return num_tiles(4 * counters, kAlignment) * kAlignment;
}

// Where part `part` of a tile lies among the float32 tiles of the workspace. tile: row-major, batch
// by batch. Stream-K: a block's range may end one tile and begin another, so it has two.
template <Constants kSchedule>
TILEWISE_HOST_DEVICE constexpr int64 partial_index(int64 tile, int part, int64 first_block) {
  if (kSchedule.stream_k) return 2 * (first_block + part) + (part == 0 ? 1 : 0);
  return kSchedule.split_atomic ? tile : tile * kSchedule.split_k + part;
}

// Adds this block's part to the others'. Returns whether this block is the last to arrive: it then
// holds the whole sum. tile: row-major, batch by batch, of num_tiles. ticket: a word of shared
// memory. All threads of the block call it.
template <Constants kSchedule, int kThreads, int kM, int kN>
__device__ inline bool add_partial_sums(float (&accumulator)[kM][kN],
                                        const KernelArguments& arguments, int64 tile,
                                        int64 num_tiles, int part, int parts, unsigned& ticket) {
  constexpr int kElements = kM * kN * kThreads;
  const int thread = static_cast<int>(opaque(threadIdx.x));
  unsigned* counter = static_cast<unsigned*>(arguments.workspace) + tile;
  float* partials =
      reinterpret_cast<float*>(static_cast<char*>(arguments.workspace) + counter_bytes(num_tiles)) +
      thread * kChunkElements;
  const int64 first_block = blockIdx.x - part;
  float* mine = partials + partial_index<kSchedule>(tile, part, first_block) * kElements;
#pragma unroll
  for (int i = 0; i < kM * kN; i += kChunkElements) {
    float* to = mine + i * kThreads;
    const float* from = &accumulator[i / kN][i % kN];
    if constexpr (!kSchedule.split_atomic) {
      st_global_v4_f32(to, from);
    } else {
#pragma unroll
      for (int j = 0; j < kChunkElements; ++j) red_add_f32(to + j, from[j]);
    }
  }
  // HAZARD: each thread's sums must be visible on the device before the counter says so.
  __threadfence();
  __syncthreads();
  if (thread == 0) ticket = atom_add_acq_rel_gpu(counter, 1);
  __syncthreads();
  if (ticket != static_cast<unsigned>(parts - 1)) return false;
  __threadfence();

  const int num_parts = kSchedule.split_atomic ? 1 : parts;
#pragma unroll
  for (int i = 0; i < kM * kN; ++i) accumulator[i / kN][i % kN] = 0.0f;
#pragma unroll 1
  for (int p = 0; p < num_parts; ++p) {
    const float* other = partials + partial_index<kSchedule>(tile, p, first_block) * kElements;
#pragma unroll
    for (int i = 0; i < kM * kN; i += kChunkElements) {
      float value[kChunkElements];
      ld_global_cg_v4_f32(value, other + i * kThreads);
#pragma unroll
      for (int j = 0; j < kChunkElements; ++j) accumulator[i / kN][i % kN + j] += value[j];
    }
  }
  return true;
}

}  // namespace tilewise
