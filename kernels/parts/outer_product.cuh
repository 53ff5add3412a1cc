// The register tile: fragments from shared memory, the outer product, and the tile of D.
#pragma once

#include "parts/copy.cuh"
#include "parts/layout.cuh"
#include "parts/ptx.cuh"

namespace tilewise {

// accumulator += a * b, along a serpentine: each multiply-add shares an operand with the one
// before, which the register file's reuse cache then holds.
template <int kM, int kN>
__device__ inline void outer_product(float (&accumulator)[kM][kN], const float (&a)[kM],
                                     const float (&b)[kN]) {
#pragma unroll
  for (int i = 0; i < kM; ++i) {
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      const int s = i % 2 == 0 ? j : kN - 1 - j;
      accumulator[i][s] += a[i] * b[s];
    }
  }
}

// One thread's part of a warp's (or block's) tile: kCount elements in kRepeat pieces, read kWidth
// bytes at a time.
template <SharedTile kTile, int kSpan, int kCount, int kRepeat, int kWidth = 16>
struct Fragment {
  static_assert(kWidth == 16 || kWidth == 4, "shared memory is read 4 or 16 bytes at a time");
  static_assert(
      kCount % kRepeat == 0 && kCount / kRepeat % kChunkElements == 0,
      "a piece of the thread tile (extent / repeat) is a multiple of 4: it is read by 16 bytes");

  // `at`: this thread's first element in the tile. tile: shared address of the tile, a multiple of
  // 128 bytes where it is swizzled.
  __device__ static void load(float (&value)[kCount], unsigned tile, int k, int at) {
    unsigned first = tile + 4 * kTile.offset(0, at);
    if constexpr (kTile.swizzle_bytes != 0) first = opaque(first);  // 8 addresses are not kept
#pragma unroll
    for (int i = 0; i < kCount; i += kChunkElements) {
      const unsigned address = step_address(first, k, thread_element(kSpan, kCount, kRepeat, 0, i));
      if constexpr (kWidth == 16) {
        ld_shared_v4_f32(value + i, address);
      } else {
#pragma unroll
        for (int j = 0; j < kChunkElements; ++j) value[i + j] = ld_shared_f32(address + 4 * j);
      }
    }
  }

 private:
  // From the address of (0, at) to that of (k, at + step). A step inside a panel sets bits that
  // `at` has not, since pieces of a thread are a power of two apart.
  __device__ static unsigned step_address(unsigned first, int k, int step) {
    if constexpr (kTile.swizzle_bytes == 0) return first + 4 * kTile.offset(k, step);
    constexpr int kPanel = kTile.swizzle_bytes == 0 ? 1 : kTile.swizzle_bytes / 4;
    const int inside = step % kPanel;
    return (first ^ (kTile.toggle_bytes(k) ^ 4 * inside)) + k * kTile.row_bytes() +
           4 * kTile.offset(0, step - inside);
  }
};

// D = epilogue(accumulator) for a thread tile whose first output is (m, n); spans and repeats as in
// the schedule. By 16 bytes where D allows it and the tile exists as a whole.
template <class Element, class Epilogue, int kSpanM, int kSpanN, int kRepeatM, int kRepeatN, int kM,
          int kN>
__device__ inline void store_thread_tile(const KernelArguments& arguments, int64 batch, int64 m,
                                         int64 n, const float (&accumulator)[kM][kN]) {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  if constexpr (kSame<Output, float>) {
    const int64 last_m = m + thread_element(kSpanM, kM, kRepeatM, 0, kM - 1);
    const int64 last_n = n + thread_element(kSpanN, kN, kRepeatN, 0, kN - 1);
    if (vector_store(arguments) && last_m < arguments.m && last_n < arguments.n) {
#pragma unroll
      for (int i = 0; i < kM; ++i) {
#pragma unroll
        for (int j = 0; j < kN; j += kChunkElements)
          store_chunk<Epilogue>(arguments, batch, m + thread_element(kSpanM, kM, kRepeatM, 0, i),
                                n + thread_element(kSpanN, kN, kRepeatN, 0, j), &accumulator[i][j]);
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kM; ++i) {
#pragma unroll
    for (int j = 0; j < kN; ++j)
      store_element<Element, Epilogue>(
          arguments, batch, m + thread_element(kSpanM, kM, kRepeatM, 0, i),
          n + thread_element(kSpanN, kN, kRepeatN, 0, j), accumulator[i][j]);
  }
}

}  // namespace tilewise
