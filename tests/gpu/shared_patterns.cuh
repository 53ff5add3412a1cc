// 97  shared_patterns
// Every access of shared memory whose cost the model predicts, once a pattern, one after another
// in the machine code: a profiler that counts by instruction then says what each pattern costs.
// A: one warp's offsets in bytes, 32 of each pattern, as int; of the copies with a source of their
// own the source's offset in B, in words, in the bits from kPatternSourceBit on; D: one float a
// lane, so that nothing is left out. Honours no schedule; the tests compile it in the place of a
// rung. Honours   block
#pragma once

#include "parts/arguments.cuh"
#include "parts/element.cuh"
#include "parts/host_device.cuh"
#include "parts/ptx.cuh"
#include "parts/ptx_mma.cuh"

namespace tilewise {

constexpr int kPatternSharedBytes = 32768;
// Patterns by kind of access, in this order.
constexpr int kReads4 = 8, kReads8 = 12, kReads16 = 24, kWrites4 = 6, kWrites16 = 8, kCopies4 = 4,
              kCopies16 = 8, kBypasses = 8, kSizedBypasses = 12, kMatrices = 4;
constexpr int kPatternSourceBit = 15;  // above kPatternSharedBytes - 1

TILEWISE_HOST_DEVICE constexpr LaunchInfo shared_patterns_launch(Constants) {
  LaunchInfo info;
  info.threads = 32;
  info.shared_bytes = kPatternSharedBytes;
  info.tile_m = info.tile_n = info.tile_k = 1 << 20;
  return info;
}

__device__ inline float ld_shared_pair(unsigned address) {
  float x, y;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(address) : "memory");
  return x + y;
}

template <Constants, class Element, class Epilogue>
__device__ void shared_patterns(const KernelArguments& arguments) {
  struct Map {
    alignas(128) unsigned char bytes[kPatternSharedBytes];
  };
  const unsigned base = shared_address(shared_map<Map>().bytes);
  const int lane = static_cast<int>(threadIdx.x);
  const int* offsets = static_cast<const int*>(arguments.a.data) + lane;
  const char* sources = static_cast<const char*>(arguments.b.data);
  const char* source = sources + 16 * lane;
  float sum = 0;
  int next = 0;
  const auto offset = [&] { return offsets[32 * next++]; };

  float zero[4] = {};
#pragma unroll
  for (int i = 0; i < kWrites4; ++i) {
    st_shared_f32(base + offset(), 1.0f);
    __syncthreads();  // also after each of the others: the assembler keeps their order
  }
#pragma unroll
  for (int i = 0; i < kWrites16; ++i) {
    st_shared_v4_f32(base + offset(), zero);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kCopies4; ++i) {
    cp_async_4(base + offset(), source);
    __syncthreads();
  }
  // An offset below zero: the lane copies nothing and writes zeros at minus the offset minus 1.
#pragma unroll
  for (int i = 0; i < kCopies16; ++i) {
    const int at = offset();
    cp_async_16(base + (at < 0 ? -at - 1 : at), source, at < 0 ? 0 : 16);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kBypasses; ++i) {
    const int at = offset();
    cp_async_16(base + at % kPatternSharedBytes, sources + 4 * (at >> kPatternSourceBit));
    __syncthreads();
  }
  // Of a size that the compiler does not know; zeros as above.
#pragma unroll
  for (int i = 0; i < kSizedBypasses; ++i) {
    const int at = offset(), place = at < 0 ? -at - 1 : at;
    cp_async_16(base + place % kPatternSharedBytes, sources + 4 * (place >> kPatternSourceBit),
                opaque(at < 0 ? 0 : 16));
    __syncthreads();
  }
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kReads4; ++i) {
    sum += ld_shared_f32(base + offset());
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kReads8; ++i) {
    sum += ld_shared_pair(base + offset());
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kReads16; ++i) {
    float value[4];
    ld_shared_v4_f32(value, base + offset());
    sum += value[0] + value[1] + value[2] + value[3];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kMatrices; ++i) {
    unsigned value[4];
    ldmatrix_x4(value, base + offset());
    sum += static_cast<float>(value[0] + value[1] + value[2] + value[3]);
    __syncthreads();
  }
  static_cast<float*>(arguments.d.data)[lane] = sum;
}

}  // namespace tilewise
