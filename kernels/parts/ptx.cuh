// One instruction a function, named like it. Shared-memory accesses say their width, so that the
// compiler can neither merge nor split them: what is counted is what is executed. Addresses in
// shared memory are 32 bits, in bytes.
#pragma once

namespace tilewise {

// All shared memory of a block is dynamic; a kernel overlays its map, a struct, on it.
template <class Map>
__device__ inline Map& shared_map() {
  extern __shared__ __align__(1024) unsigned char tilewise_shared[];
  return *reinterpret_cast<Map*>(tilewise_shared);
}

// An intrinsic, not PTX: the compiler folds constant offsets into it.
__device__ inline unsigned shared_address(const void* generic) {
  return static_cast<unsigned>(__cvta_generic_to_shared(generic));
}

// The same value, of which the compiler no longer knows where it comes from: keeps sums that depend
// on it inside a loop, where they cost an instruction each instead of a register each.
__device__ inline int opaque(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ inline long long opaque(long long value) {
  asm volatile("" : "+l"(value));
  return value;
}
__device__ inline unsigned opaque(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Lane 0's value: the compiler then knows that it is the same in the whole warp, and computes with
// it once a warp.
__device__ inline int warp_uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

// Shared -> registers, 4 and 16 bytes a thread. Volatile PTX: the assembler merges plain
// neighbouring loads into wider ones.
__device__ inline float ld_shared_f32(unsigned address) {
  float value;
  asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}

__device__ inline void ld_shared_v4_f32(float* value, unsigned address) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
               : "r"(address)
               : "memory");
}

// Registers -> shared.
__device__ inline void st_shared_f32(unsigned address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

__device__ inline void st_shared_v4_f32(unsigned address, const float* value) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(value[0]),
               "f"(value[1]), "f"(value[2]), "f"(value[3])
               : "memory");
}

// Global <-> registers, 16 bytes a thread; the address is a multiple of 16 bytes.
__device__ inline void ld_global_v4_f32(float* value, const float* address) {
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
               : "l"(address)
               : "memory");
}

// From the L2, past this SM's own cache: for what other SMs have written during this launch.
__device__ inline void ld_global_cg_v4_f32(float* value, const float* address) {
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
               : "l"(address)
               : "memory");
}

__device__ inline void st_global_v4_f32(float* address, const float* value) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address), "f"(value[0]),
               "f"(value[1]), "f"(value[2]), "f"(value[3])
               : "memory");
}

// Global -> shared without passing through registers. Only source_bytes are read; the rest of the
// destination is filled with zeros.
__device__ inline void cp_async_4(unsigned shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(global) : "memory");
}

__device__ inline void cp_async_4(unsigned shared, const void* global, int source_bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global),
               "r"(source_bytes)
               : "memory");
}

__device__ inline void cp_async_16(unsigned shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}

__device__ inline void cp_async_16(unsigned shared, const void* global, int source_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
               "r"(source_bytes)
               : "memory");
}

__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kPending of this thread's groups are still in flight.
template <int kPending>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// 2^x within 2 ulp; a result below 2^-126 is zero.
__device__ inline float ex2_approx_ftz(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / x within 1 ulp; zero for x of 2^126 and more.
__device__ inline float rcp_approx_ftz(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The larger one; NaN if either is.
__device__ inline float max_nan(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

// Device-wide counters and sums of a split K.
__device__ inline unsigned atom_add_acq_rel_gpu(unsigned* address, unsigned value) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
}

__device__ inline void red_add_f32(float* address, float value) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(address), "f"(value) : "memory");
}

}  // namespace tilewise
