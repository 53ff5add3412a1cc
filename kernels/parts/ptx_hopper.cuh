// Hopper's instructions (sm_90a), one a function, named like it: barriers in shared memory, the
// bulk tensor copy (TMA), clusters, register reallocation. Nothing here includes a header.
#pragma once

#include "parts/arguments.cuh"
#include "parts/ptx.cuh"
#include "parts/ptx_barrier.cuh"

namespace tilewise {

using uint64 = unsigned long long;
using Barrier = uint64;  // an mbarrier object, in shared memory

__device__ inline uint64 globaltimer_ns() {
  uint64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// ---- mbarrier

__device__ inline void mbarrier_init(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals));
}

// Makes initialised barriers visible to the bulk copy and to the other blocks of the cluster.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// One arrival, and `bytes` more to come from bulk copies before the phase completes.
__device__ inline void mbarrier_arrive_expect_tx(Barrier* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// An arrival at the same barrier of another block of the cluster.
// HAZARD: with .release.cluster this is a fence of the whole GPU's memory each time. Nothing but
// wgmma reads what the barrier frees, and those reads have been waited for, so no fence is needed.
__device__ inline void mbarrier_arrive_cluster(Barrier* barrier, unsigned block_rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(block_rank)
      : "memory");
}

__device__ inline bool mbarrier_try_wait_parity(Barrier* barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

// Returns once the phase of that parity has completed. A build with TILEWISE_WAIT_LIMIT_NS traps
// instead of hanging.
__device__ inline void mbarrier_wait(Barrier* barrier, unsigned parity) {
#ifdef TILEWISE_WAIT_LIMIT_NS
  const uint64 start = globaltimer_ns();
  while (!mbarrier_try_wait_parity(barrier, parity)) {
    if (globaltimer_ns() - start > TILEWISE_WAIT_LIMIT_NS) asm volatile("trap;");
  }
#else
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
#endif
}

// ---- bulk tensor copy

__device__ inline void prefetch_tensormap(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// One box at (inner, outer, batch) into shared memory; its bytes are announced to `full`. Elements
// out of bounds arrive as zeros and count as bytes.
__device__ inline void tma_load(void* destination, const TensorMap* map, Barrier* full, int inner,
                                int outer, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(full)), "r"(inner), "r"(outer), "r"(batch)
      : "memory");
}

// The same box into the same place of every block of the cluster in `blocks` (a bit a rank); each
// one's own `full` hears of the bytes.
__device__ inline void tma_load_multicast(void* destination, const TensorMap* map, Barrier* full,
                                          int inner, int outer, int batch, unsigned blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(destination)),
      "l"(map), "r"(shared_address(full)), "r"(inner), "r"(outer), "r"(batch),
      "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

// One box from shared memory; what lies out of bounds is not written.
__device__ inline void tma_store(const TensorMap* map, const void* source, int inner, int outer,
                                 int batch) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
          map),
      "r"(shared_address(source)), "r"(inner), "r"(outer), "r"(batch)
      : "memory");
}

__device__ inline void bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until at most kPending of this thread's groups still read shared memory.
template <int kPending>
__device__ inline void bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Until at most kPending of this thread's groups are incomplete.
template <int kPending>
__device__ inline void bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

// Orders this thread's ordinary writes to shared memory before later reads by the bulk copy or
// wgmma.
__device__ inline void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- threads

__device__ inline unsigned cluster_block_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Every thread of every block of the cluster.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

template <int kRegisters>
__device__ inline void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Four 8 x 8 matrices of 16-bit elements; lane l points at row l % 8 of matrix l / 8.
__device__ inline void stmatrix_x4(void* row, unsigned r0, unsigned r1, unsigned r2, unsigned r3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(r0), "r"(r1), "r"(r2), "r"(r3)
      : "memory");
}

}  // namespace tilewise
