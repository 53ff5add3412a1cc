// The tensor core as a warp sees it (sm_80): ldmatrix and mma.sync, and wmma with its own
// fragments.
#pragma once

#include "parts/element.cuh"
#include "parts/ptx.cuh"

namespace tilewise {

// Four 8 x 8 matrices of 16-bit elements; lane l points at row l % 8 of matrix l / 8 (16 bytes) and
// receives, of each, elements 2 (l % 4) and the next of row l / 4.
__device__ inline void ldmatrix_x4(unsigned (&r)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}

// The same, each matrix transposed on the way.
__device__ inline void ldmatrix_x4_trans(unsigned (&r)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}

#define TILEWISE_MMA(shape, type)                             \
  asm("mma.sync.aligned." shape ".row.col.f32." type "." type \
      ".f32 {%0, %1, %2, %3}, "                               \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"         \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])        \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

// d (16, 8) += a (16, 32 bytes of k) b (32 bytes of k, 8); layouts in parts/fragment.cuh.
template <class Element>
__device__ inline void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (kSame<Element, bf16>) {
    TILEWISE_MMA("m16n8k16", "bf16");
  } else if constexpr (kSame<Element, f16>) {
    TILEWISE_MMA("m16n8k16", "f16");
  } else {
    static_assert(kSame<Element, float>, "mma.sync multiplies bf16, f16 and, as tf32, float");
    TILEWISE_MMA("m16n8k8", "tf32");
  }
}

// ---- wmma m16n16k16: fragments whose layout is the compiler's secret. 4 registers of bf16, 8 of
// f16.

template <class Element>
constexpr int kWmmaRegisters = kSame<Element, bf16> ? 4 : 8;

#define TILEWISE_WMMA_LOAD(operand, layout)                                                \
  if constexpr (kSame<Element, bf16>) {                                                    \
    asm volatile("wmma.load." operand ".sync.aligned." layout                              \
                 ".m16n16k16.bf16 "                                                        \
                 "{%0, %1, %2, %3}, [%4], %5;"                                             \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                          \
                 : "l"(tile), "r"(pitch)                                                   \
                 : "memory");                                                              \
  } else {                                                                                 \
    asm volatile("wmma.load." operand ".sync.aligned." layout                              \
                 ".m16n16k16.f16 "                                                         \
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                             \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), \
                   "=r"(r[6]), "=r"(r[7])                                                  \
                 : "l"(tile), "r"(pitch)                                                   \
                 : "memory");                                                              \
  }

// A (16, 16) tile in global or shared memory, base aligned to 32 bytes, pitch a multiple of 8
// elements.
template <class Element, bool kKMajor>
__device__ inline void wmma_load_a(unsigned (&r)[kWmmaRegisters<Element>], const Element* tile,
                                   int pitch) {
  if constexpr (kKMajor) {
    TILEWISE_WMMA_LOAD("a", "row")
  } else {
    TILEWISE_WMMA_LOAD("a", "col")
  }
}
template <class Element, bool kKMajor>
__device__ inline void wmma_load_b(unsigned (&r)[kWmmaRegisters<Element>], const Element* tile,
                                   int pitch) {
  if constexpr (kKMajor) {
    TILEWISE_WMMA_LOAD("b", "col")
  } else {
    TILEWISE_WMMA_LOAD("b", "row")
  }
}

#define TILEWISE_WMMA_BF16(layout)                                                          \
  asm("wmma.mma.sync.aligned." layout                                                       \
      ".m16n16k16.f32.bf16.bf16.f32 "                                                       \
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "        \
      "{%0, %1, %2, %3, %4, %5, %6, %7};"                                                   \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), \
        "+f"(d[7])                                                                          \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]))
#define TILEWISE_WMMA_F16(layout)                                                               \
  asm("wmma.mma.sync.aligned." layout                                                           \
      ".m16n16k16.f32.f32 "                                                                     \
      "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "              \
      "{%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"             \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),     \
        "+f"(d[7])                                                                              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), \
        "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]))
#define TILEWISE_WMMA(layout)           \
  if constexpr (kSame<Element, bf16>) { \
    TILEWISE_WMMA_BF16(layout);         \
  } else {                              \
    TILEWISE_WMMA_F16(layout);          \
  }

// d += a b, (16, 16) each.
template <class Element, bool kKMajorA, bool kKMajorB>
__device__ inline void wmma_mma(float (&d)[8], const unsigned (&a)[kWmmaRegisters<Element>],
                                const unsigned (&b)[kWmmaRegisters<Element>]) {
  if constexpr (kKMajorA && kKMajorB) {
    TILEWISE_WMMA("row.col")
  } else if constexpr (kKMajorA) {
    TILEWISE_WMMA("row.row")
  } else if constexpr (kKMajorB) {
    TILEWISE_WMMA("col.col")
  } else {
    TILEWISE_WMMA("col.row")
  }
}

// The (16, 16) accumulator, row-major, pitch a multiple of 4 elements.
__device__ inline void wmma_store(float* tile, const float (&d)[8], int pitch) {
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;" ::
          "l"(tile),
      "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]),
      "r"(pitch)
      : "memory");
}

}  // namespace tilewise
