// 15  wgmma_fp8             before: 14_wgmma_pipeline.cuh   after: none
// Idea      the pipeline of 14 with 8-bit operands: twice the products an instruction; promoted:
//           the tensor core's sum, which keeps about 14 bits, is added to float32 registers
//           every N elements of K
// Moves     as 14, at one byte an element
// Honours   tiles: block, instruction; cluster; stages; copy bulk; shared_layout (swizzle:128);
//           order; persistent; consumers ping_pong; split_k; stream_k; accumulate promoted:N
// Needs     sm_90a; e4m3; layout nt (A row-major, B column-major), bases and pitches multiples of
//           16 bytes; any M, N, K; any D
// Uses      as 14; promoted, every accumulator twice; D in 16 or 32 bits
// Limits    promoted additions run on the float32 lanes while the other warpgroup multiplies
// Measured  docs/ladder/14.md
#pragma once

#include "ladder/14_wgmma_pipeline.cuh"

namespace tilewise {

TILEWISE_HOST_DEVICE constexpr LaunchInfo wgmma_fp8_launch(Constants c) {
  return wgmma_pipeline_launch(c);
}

template <Constants c, class Element, class Epilogue>
__device__ void wgmma_fp8(const KernelArguments& arguments, const TensorMaps& maps) {
  static_assert(sizeof(Element) == 1, "take wgmma_pipeline for elements of 16 bits and more");
  static_assert(c.a_k_major && c.b_k_major,
                "8-bit operands must lie along k: pass A row-major and B column-major");
  wgmma_pipeline<c, Element, Epilogue>(arguments, maps);
}

}  // namespace tilewise
