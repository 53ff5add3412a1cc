// 11  wmma                  before: 10_tuned_f32.cuh   after: 12_mma.cuh
// Idea      a warp multiplies 16 x 16 tiles by one tensor-core instruction, its operands
//           straight from global memory
// Moves     global  M K tiles(N; block.n, warp.n) + K N tiles(M; block.m, warp.m): every warp
//           reads for itself, and L1 and L2 catch what they can
// Honours   tiles: block, warp, instruction; order
// Needs     sm_80; bf16 or f16; any M, N, K; pitches multiples of 8 elements, bases of 32 bytes
// Uses      32 threads a 16 x 16 tile of D, 2 KiB of shared memory a warp for edges and D;
//           registers as tests/kernels/resources.json expects
// Limits    two loads from global memory an instruction: the tensor core waits
// Measured  docs/ladder/14.md
#pragma once

#include "parts/element.cuh"
#include "parts/fragment.cuh"
#include "parts/ptx_mma.cuh"
#include "parts/work_list.cuh"

namespace tilewise {

constexpr int kWmmaEdge = 16;
constexpr int kWmmaElements = kWmmaEdge * kWmmaEdge;

// One warp's: a tile of A and of B at an edge of the matrices, zero-filled; its tile of D.
template <class Element, int kWarps>
struct WmmaShared {
  struct Warp {
    alignas(32) Element a[kWmmaElements];  // (16, 16), contiguous along k or m as A is
    alignas(32) Element b[kWmmaElements];
    alignas(32) float d[kWmmaElements];
  } warps[kWarps];
};

TILEWISE_HOST_DEVICE constexpr int wmma_warps(const Constants& c) {
  return c.block_m / kWmmaEdge * (c.block_n / kWmmaEdge);
}

TILEWISE_HOST_DEVICE constexpr LaunchInfo wmma_launch(Constants c) {
  LaunchInfo info;
  info.threads = wmma_warps(c) * kWarpLanes;
  info.shared_bytes = wmma_warps(c) * kWmmaElements * 8;
  info.tile_m = c.block_m;
  info.tile_n = c.block_n;
  info.tile_k = kWmmaEdge;
  return info;
}

// A tile of an operand whose extents at this tile are x_left along m or n and k_left along k.
template <class Element, bool kKMajor>
struct WmmaOperand {
  const Element* data;  // first element of the matrix
  int64 stride_x, stride_k;
  bool direct;  // base and pitch allow loads from global memory

  __device__ WmmaOperand(const MatrixArgument& matrix, int64 batch, int64 x_stride, int64 k_stride)
      : data(static_cast<const Element*>(matrix.data) + batch * matrix.batch),
        stride_x(x_stride),
        stride_k(k_stride) {
    const int64 pitch = kKMajor ? stride_x : stride_k, unit = kKMajor ? stride_k : stride_x;
    direct = unit == 1 && pitch % 8 == 0 && pitch <= 0x7fffffff &&
             reinterpret_cast<unsigned long long>(data) % 32 == 0;
  }

  __device__ int pitch() const { return static_cast<int>(kKMajor ? stride_x : stride_k); }
  __device__ const Element* at(int64 x, int64 k) const {
    return data + x * stride_x + k * stride_k;
  }

  // The zero-filled tile at (x, k) for one warp.
  __device__ void fill(Element (&tile)[kWmmaElements], int64 x, int64 k, int64 x_end, int64 k_end,
                       int lane) const {
    __syncwarp();
    for (int i = lane; i < kWmmaElements; i += kWarpLanes) {
      const int xi = kKMajor ? i / kWmmaEdge : i % kWmmaEdge;
      const int ki = kKMajor ? i % kWmmaEdge : i / kWmmaEdge;
      tile[i] = x + xi < x_end && k + ki < k_end ? *at(x + xi, k + ki) : Element{};
    }
    __syncwarp();
  }
};

template <Constants c, class Element, class Epilogue>
__device__ void wmma(const KernelArguments& arguments) {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  static_assert(sizeof(Element) == 2, "wmma multiplies bf16 and f16");
  static_assert(c.warp_m == kWmmaEdge && c.warp_n == kWmmaEdge, "a warp has one 16 x 16 tile");
  using Shared = WmmaShared<Element, wmma_warps(c)>;
  const int warp = threadIdx.x / kWarpLanes, lane = threadIdx.x % kWarpLanes;
  typename Shared::Warp& shared = shared_map<Shared>().warps[warp];
  const Work<c> work = WorkList<c>(arguments, 0).next();
  const int64 m = work.m() + warp / (c.block_n / kWmmaEdge) * kWmmaEdge;
  const int64 n = work.n() + warp % (c.block_n / kWmmaEdge) * kWmmaEdge;
  if (m >= arguments.m || n >= arguments.n) return;  // the whole warp leaves together

  const WmmaOperand<Element, c.a_k_major> a(arguments.a, work.batch, arguments.a.row,
                                            arguments.a.column);
  const WmmaOperand<Element, c.b_k_major> b(arguments.b, work.batch, arguments.b.column,
                                            arguments.b.row);
  const bool whole_m = m + kWmmaEdge <= arguments.m, whole_n = n + kWmmaEdge <= arguments.n;
  float acc[8] = {};
  for (int64 k = 0; k < arguments.k; k += kWmmaEdge) {
    const bool whole_k = k + kWmmaEdge <= arguments.k;
    unsigned fragment_a[kWmmaRegisters<Element>], fragment_b[kWmmaRegisters<Element>];
    if (a.direct && whole_m && whole_k) {
      wmma_load_a<Element, c.a_k_major>(fragment_a, a.at(m, k), a.pitch());
    } else {
      a.fill(shared.a, m, k, arguments.m, arguments.k, lane);
      wmma_load_a<Element, c.a_k_major>(fragment_a, shared.a, kWmmaEdge);
    }
    if (b.direct && whole_n && whole_k) {
      wmma_load_b<Element, c.b_k_major>(fragment_b, b.at(n, k), b.pitch());
    } else {
      b.fill(shared.b, n, k, arguments.n, arguments.k, lane);
      wmma_load_b<Element, c.b_k_major>(fragment_b, shared.b, kWmmaEdge);
    }
    wmma_mma<Element, c.a_k_major, c.b_k_major>(acc, fragment_a, fragment_b);
  }

  wmma_store(shared.d, acc, kWmmaEdge);
  __syncwarp();
  const MatrixArgument& d = arguments.d;
  Output* to = static_cast<Output*>(d.data) + work.batch * d.batch;
  for (int i = lane; i < kWmmaElements; i += kWarpLanes) {
    const int64 row = m + i / kWmmaEdge, column = n + i % kWmmaEdge;
    if (row >= arguments.m || column >= arguments.n) continue;
    to[row * d.row + column * d.column] =
        from_float<Output>(Epilogue::apply(shared.d[i], arguments, work.batch, row, column));
  }
}

}  // namespace tilewise
