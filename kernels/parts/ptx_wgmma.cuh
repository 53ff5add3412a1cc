// wgmma (sm_90a): one warpgroup multiplies a (64, k) tile of A by a (k, N) tile of B, both in
// shared memory, into float32 accumulators that its 128 threads hold (parts/fragment.cuh: wgmma_c).
// 16-bit elements: k = 16, either operand along k or along m/n; tf32: k = 8 and 8-bit: k = 32,
// along k only.
#pragma once

#include "parts/element.cuh"
#include "parts/ptx_hopper.cuh"

namespace tilewise {

// Before the first wgmma that reads registers or shared memory written by ordinary instructions.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ inline void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Keeps the compiler from moving uses of an accumulator across a wait.
template <int kRegisters>
__device__ inline void wgmma_fence_operand(float (&d)[kRegisters]) {
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

template <int kTiles, int kRegisters>
__device__ inline void wgmma_clear(float (&d)[kTiles][kRegisters]) {
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) d[i][j] = 0.0f;
  }
}

// Describes a tile in shared memory under the 128-byte swizzle, base aligned to 1024 bytes but for
// steps along k inside one pattern. leading, stride: bytes between neighbouring patterns of 8 rows
// of 128 bytes; for a tile along k, stride is between groups of 8 rows of m or n and leading is
// unused; for a tile along m or n, stride is between groups of 8 k, leading between groups of 64 m
// or n.
__device__ inline uint64 wgmma_descriptor(const void* tile, int leading_bytes, int stride_bytes) {
  constexpr uint64 kSwizzle128 = 1;
  return static_cast<uint64>((shared_address(tile) & 0x3FFFF) >> 4) |
         static_cast<uint64>(leading_bytes >> 4) << 16 |
         static_cast<uint64>(stride_bytes >> 4) << 32 | kSwizzle128 << 62;
}
// The descriptor `bytes` (a multiple of 16) further on.
__device__ inline uint64 wgmma_advance(uint64 descriptor, int bytes) {
  return descriptor + static_cast<uint64>(bytes >> 4);
}

// The registers of an asm statement, 16 at a time: their names and their bindings.
#define TILEWISE_NAMES_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define TILEWISE_NAMES_1 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define TILEWISE_NAMES_2 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define TILEWISE_NAMES_3 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define TILEWISE_NAMES_4 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define TILEWISE_NAMES_5 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define TILEWISE_NAMES_6 \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define TILEWISE_NAMES_7 \
  "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define TILEWISE_BIND_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define TILEWISE_BIND(i) \
  TILEWISE_BIND_4(i), TILEWISE_BIND_4(i + 4), TILEWISE_BIND_4(i + 8), TILEWISE_BIND_4(i + 12)
#define TILEWISE_NAMES_N32 TILEWISE_NAMES_0
#define TILEWISE_BIND_N32 TILEWISE_BIND(0)
#define TILEWISE_NAMES_N64 TILEWISE_NAMES_0 "," TILEWISE_NAMES_1
#define TILEWISE_BIND_N64 TILEWISE_BIND(0), TILEWISE_BIND(16)
#define TILEWISE_NAMES_N96 TILEWISE_NAMES_0 "," TILEWISE_NAMES_1 "," TILEWISE_NAMES_2
#define TILEWISE_BIND_N96 TILEWISE_BIND(0), TILEWISE_BIND(16), TILEWISE_BIND(32)
#define TILEWISE_NAMES_N128 \
  TILEWISE_NAMES_0 "," TILEWISE_NAMES_1 "," TILEWISE_NAMES_2 "," TILEWISE_NAMES_3
#define TILEWISE_BIND_N128 TILEWISE_BIND(0), TILEWISE_BIND(16), TILEWISE_BIND(32), TILEWISE_BIND(48)
#define TILEWISE_NAMES_N160                                                       \
  TILEWISE_NAMES_0 "," TILEWISE_NAMES_1 "," TILEWISE_NAMES_2 "," TILEWISE_NAMES_3 \
                   "," TILEWISE_NAMES_4
#define TILEWISE_BIND_N160 \
  TILEWISE_BIND(0), TILEWISE_BIND(16), TILEWISE_BIND(32), TILEWISE_BIND(48), TILEWISE_BIND(64)
#define TILEWISE_NAMES_N192                                                       \
  TILEWISE_NAMES_0 "," TILEWISE_NAMES_1 "," TILEWISE_NAMES_2 "," TILEWISE_NAMES_3 \
                   "," TILEWISE_NAMES_4 "," TILEWISE_NAMES_5
#define TILEWISE_BIND_N192                                                                      \
  TILEWISE_BIND(0), TILEWISE_BIND(16), TILEWISE_BIND(32), TILEWISE_BIND(48), TILEWISE_BIND(64), \
      TILEWISE_BIND(80)
#define TILEWISE_NAMES_N224                                                       \
  TILEWISE_NAMES_0 "," TILEWISE_NAMES_1 "," TILEWISE_NAMES_2 "," TILEWISE_NAMES_3 \
                   "," TILEWISE_NAMES_4 "," TILEWISE_NAMES_5 "," TILEWISE_NAMES_6
#define TILEWISE_BIND_N224                                                                      \
  TILEWISE_BIND(0), TILEWISE_BIND(16), TILEWISE_BIND(32), TILEWISE_BIND(48), TILEWISE_BIND(64), \
      TILEWISE_BIND(80), TILEWISE_BIND(96)
#define TILEWISE_NAMES_N256                                                       \
  TILEWISE_NAMES_0 "," TILEWISE_NAMES_1 "," TILEWISE_NAMES_2 "," TILEWISE_NAMES_3 \
                   "," TILEWISE_NAMES_4 "," TILEWISE_NAMES_5 "," TILEWISE_NAMES_6 \
                   "," TILEWISE_NAMES_7
#define TILEWISE_BIND_N256                                                                      \
  TILEWISE_BIND(0), TILEWISE_BIND(16), TILEWISE_BIND(32), TILEWISE_BIND(48), TILEWISE_BIND(64), \
      TILEWISE_BIND(80), TILEWISE_BIND(96), TILEWISE_BIND(112)

// The instruction. a, b, p, ta, tb: names of the operands that follow the N / 2 accumulators.
#define TILEWISE_WGMMA(n, k, type, tail, a, b, p, ...)                                     \
  asm volatile("{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, " p                     \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n "k" #k ".f32." #type "." #type \
               " {" TILEWISE_NAMES_N##n "}, " a ", " b ", accumulate, 1, 1" tail ";\n}"    \
               : TILEWISE_BIND_N##n                                                        \
               : "l"(desc_a), "l"(desc_b), "r"(accumulate)__VA_OPT__(, ) __VA_ARGS__)
#define TILEWISE_WGMMA_TYPES(n, a, b, p, ta, tb)                                       \
  if constexpr (kSame<Element, bf16>) {                                                \
    TILEWISE_WGMMA(n, 16, bf16, ", " ta ", " tb, a, b, p, "n"(kMajorA), "n"(kMajorB)); \
  } else if constexpr (kSame<Element, f16>) {                                          \
    TILEWISE_WGMMA(n, 16, f16, ", " ta ", " tb, a, b, p, "n"(kMajorA), "n"(kMajorB));  \
  } else if constexpr (kSame<Element, float>) {                                        \
    TILEWISE_WGMMA(n, 8, tf32, "", a, b, p);                                           \
  } else if constexpr (kSame<Element, f8e4m3>) {                                       \
    TILEWISE_WGMMA(n, 32, e4m3, "", a, b, p);                                          \
  } else {                                                                             \
    TILEWISE_WGMMA(n, 32, e5m2, "", a, b, p);                                          \
  }

// d = a b + (accumulate ? d : 0). kKMajor*: whether the operand is contiguous along k.
// HAZARD: asynchronous; d and the tiles are in use until the group that holds this has been waited
// for.
template <class Element, bool kKMajorA, bool kKMajorB, int kRegisters>
__device__ inline void wgmma_mma_async(float (&d)[kRegisters], uint64 desc_a, uint64 desc_b,
                                       int accumulate) {
  static_assert(
      (kKMajorA && kKMajorB) || sizeof(Element) == 2,
      "only 16-bit operands may lie along m or n in shared memory; pass A row-major and B "
      "column-major");
  static_assert(kRegisters % 16 == 0 && kRegisters <= 128,
                "an instruction is 32 to 256 columns wide, in steps of 32");
  [[maybe_unused]] constexpr int kMajorA = kKMajorA ? 0 : 1;
  [[maybe_unused]] constexpr int kMajorB = kKMajorB ? 0 : 1;
  if constexpr (kRegisters == 16) {
    TILEWISE_WGMMA_TYPES(32, "%16", "%17", "%18", "%19", "%20")
  } else if constexpr (kRegisters == 32) {
    TILEWISE_WGMMA_TYPES(64, "%32", "%33", "%34", "%35", "%36")
  } else if constexpr (kRegisters == 48) {
    TILEWISE_WGMMA_TYPES(96, "%48", "%49", "%50", "%51", "%52")
  } else if constexpr (kRegisters == 64) {
    TILEWISE_WGMMA_TYPES(128, "%64", "%65", "%66", "%67", "%68")
  } else if constexpr (kRegisters == 80) {
    TILEWISE_WGMMA_TYPES(160, "%80", "%81", "%82", "%83", "%84")
  } else if constexpr (kRegisters == 96) {
    TILEWISE_WGMMA_TYPES(192, "%96", "%97", "%98", "%99", "%100")
  } else if constexpr (kRegisters == 112) {
    TILEWISE_WGMMA_TYPES(224, "%112", "%113", "%114", "%115", "%116")
  } else if constexpr (kRegisters == 128) {
    TILEWISE_WGMMA_TYPES(256, "%128", "%129", "%130", "%131", "%132")
  }
}

}  // namespace tilewise
