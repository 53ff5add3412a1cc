// 12  mma                   before: 11_wmma.cuh   after: 13_wgmma.cuh
// Idea      tiles go to shared memory by cp.async, stages ahead; a warp reads fragments with
//           ldmatrix, free of bank conflicts under a swizzle, and holds its tile of D in registers
// Moves     global  M K tiles(N; block.n) + K N tiles(M; block.m)
//           shared  M K tiles(N; block.n, warp.n) + K N tiles(M; block.m, warp.m)
// Honours   tiles: block, warp, instruction; stages (2 or more); copy cp_async; shared_layout
//           (pad:N, swizzle:N); order; persistent; split_k; stream_k
// Needs     sm_80; bf16, f16, or float as tf32; any M, N, K; any strides and bases (element by
//           element where rows do not start on multiples of 16 bytes)
// Uses      32 threads a warp tile, warp.m warp.n / 32 accumulators a thread; registers as
//           tests/kernels/resources.json expects
// Limits    this instruction reaches 62 % of the tensor core's peak: 13
// Measured  docs/ladder/14.md
#pragma once

#include "parts/collect_partials.cuh"
#include "parts/operand_tile.cuh"
#include "parts/work_list.cuh"

namespace tilewise {

constexpr int kRegistersPerSm = 65536;

TILEWISE_HOST_DEVICE constexpr int mma_threads(const Constants& c) {
  return c.block_m / c.warp_m * (c.block_n / c.warp_n) * kWarpLanes;
}

// (block.m, block.k) of A and (block.k, block.n) of B a stage.
template <int kBytesA, int kBytesB, int kStages>
struct MmaShared {
  alignas(1024) unsigned char a[kStages][kBytesA];
  alignas(1024) unsigned char b[kStages][kBytesB];
  int flag;  // of collect_partials
};

template <Constants c, class Element, class Epilogue>
struct Mma {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  static constexpr int kThreads = mma_threads(c);
  using TileA = OperandTile<Element, Role::a, c.a_k_major, c.block_m, c.block_k, c.pad_elements,
                            c.swizzle_bytes, kThreads>;
  using TileB = OperandTile<Element, Role::b, c.b_k_major, c.block_n, c.block_k, c.pad_elements,
                            c.swizzle_bytes, kThreads>;
  using CopierA = Select<c.aligned_16, typename TileA::VectorCopier, typename TileA::ElementCopier>;
  using CopierB = Select<c.aligned_16, typename TileB::VectorCopier, typename TileB::ElementCopier>;
  using Shared = MmaShared<TileA::kBytes, TileB::kBytes, c.stages>;
  static constexpr int kA = c.warp_m / kFragmentExtent, kB = c.warp_n / kFragmentExtent;
  static constexpr int kSteps = c.block_k * static_cast<int>(sizeof(Element)) / kFragmentKBytes;
  static constexpr int kRegisters = c.warp_m * c.warp_n / kWarpLanes;
  static constexpr bool kElements = sizeof(Element) == 4;  // no transposing reads: by elements
  static_assert(c.warp_m % kFragmentExtent == 0 && c.warp_n % kFragmentExtent == 0,
                "warp tiles are multiples of 16 x 16");
  static_assert(c.a_k_major || c.warp_m % TileA::kLineElements == 0 ||
                    TileA::kLineElements % c.warp_m == 0,
                "warp.m must divide a 128-byte panel, or be a multiple of it");
  static_assert(c.b_k_major || c.warp_n % TileB::kLineElements == 0 ||
                    TileB::kLineElements % c.warp_n == 0,
                "warp.n must divide a 128-byte panel, or be a multiple of it");
  static_assert(kSteps % 2 == 0, "block.k must be a multiple of two instructions' k");
  static_assert(c.stages >= 2, "cp.async needs two stages or more");

  const KernelArguments& arguments;
  Shared& shared;
  int thread, lane, warp_m, warp_n;  // corner of the warp's tile in the block's

  __device__ Mma(const KernelArguments& args, Shared& map)
      : arguments(args),
        shared(map),
        thread(static_cast<int>(threadIdx.x)),
        lane(thread % kWarpLanes) {
    const int warp = thread / kWarpLanes;
    warp_m = warp % (c.block_m / c.warp_m) * c.warp_m;
    warp_n = warp / (c.block_m / c.warp_m) * c.warp_n;
  }

  // The tiles of A or B that a work needs; x is its first row or column.
  __device__ OperandView<Element> view(const MatrixArgument& matrix, int64 stride_x, int64 stride_k,
                                       int64 x, int64 extent, const Work<c>& work) const {
    const int64 k = static_cast<int64>(work.k_begin) * c.block_k;
    const Element* data = static_cast<const Element*>(matrix.data) + work.batch * matrix.batch;
    return {data + x * stride_x + k * stride_k, stride_x, stride_k, extent - x};
  }

  __device__ void load_a(unsigned (&r)[kA][4], const typename TileA::Reader& reader, int stage,
                         int step) const {
#pragma unroll
    for (int i = 0; i < kA; ++i) {
      if constexpr (kElements && !c.a_k_major) {
        TileA::load_elements(r[i], shared.a[stage], warp_m + i * kFragmentExtent, step, lane);
      } else {
        reader.load(r[i], stage * TileA::kBytes, i, step);
      }
    }
  }
  __device__ void load_b(unsigned (&r)[kB][4], const typename TileB::Reader& reader, int stage,
                         int step) const {
#pragma unroll
    for (int i = 0; i < kB; ++i) {
      if constexpr (kElements && !c.b_k_major) {
        TileB::load_elements(r[i], shared.b[stage], warp_n + i * kFragmentExtent, step, lane);
      } else {
        reader.load(r[i], stage * TileB::kBytes, i, step);
      }
    }
  }

  // Part `part` of kParts of tile k_step; after the last part, a group is complete. Zeros beyond
  // the work's end.
  template <int kParts>
  __device__ void copy(CopierA& copy_a, CopierB& copy_b, int stage, int part, int k_step,
                       int k_end) const {
    const int64 k_left = arguments.k - static_cast<int64>(k_step) * c.block_k;
    const int k_in_tile = k_step >= k_end      ? 0
                          : k_left < c.block_k ? static_cast<int>(k_left)
                                               : c.block_k;
    copy_a.template copy<kParts>(shared.a[stage], part, k_in_tile);
    copy_b.template copy<kParts>(shared.b[stage], part, k_in_tile);
    if (part + 1 < kParts) return;
    cp_async_commit();
    copy_a.advance();
    copy_b.advance();
  }

  // acc = A B over the work's steps. Under the products of a step arrive the fragments of the next
  // one and a part of the copies of the tile that is stages - 1 ahead.
  __device__ void accumulate(float (&acc)[kA][2 * kB][4], const Work<c>& work) const {
#pragma unroll
    for (int i = 0; i < kA * 2 * kB * 4; ++i) acc[i / (8 * kB)][i / 4 % (2 * kB)][i % 4] = 0.0f;
    const typename TileA::Reader reader_a(shared.a[0], warp_m, lane);
    const typename TileB::Reader reader_b(shared.b[0], warp_n, lane);
    const MatrixArgument &in_a = arguments.a, &in_b = arguments.b;
    CopierA copy_a(view(in_a, in_a.row, in_a.column, work.m(), arguments.m, work), thread);
    CopierB copy_b(view(in_b, in_b.column, in_b.row, work.n(), arguments.n, work), thread);

    // HAZARD: copies of zeros past the last work's end may still be on their way to its stages.
    cp_async_wait<0>();
    __syncthreads();  // and those stages have been read
#pragma unroll 1
    for (int i = 0; i < c.stages - 1; ++i)
      copy<1>(copy_a, copy_b, i, 0, work.k_begin + i, work.k_end);
    cp_async_wait<c.stages - 2>();
    __syncthreads();
    unsigned a[2][kA][4], b[2][kB][4];
    load_a(a[0], reader_a, 0, 0);
    load_b(b[0], reader_b, 0, 0);
    int stage = 0, ahead = c.stages - 1;
#pragma unroll 1
    for (int k = work.k_begin; k < work.k_end; ++k) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        const int now = step % 2, then = 1 - now;
        if (step + 1 < kSteps) {
          load_a(a[then], reader_a, stage, step + 1);
          load_b(b[then], reader_b, stage, step + 1);
          copy<kSteps - 1>(copy_a, copy_b, ahead, step, k + c.stages - 1, work.k_end);
        } else {
          // The next tile has landed for all threads, and all have read this one: its stage is
          // free.
          cp_async_wait<c.stages - 2>();
          __syncthreads();
          ahead = stage;
          stage = stage + 1 == c.stages ? 0 : stage + 1;
          load_a(a[then], reader_a, stage, 0);
          load_b(b[then], reader_b, stage, 0);
        }
#pragma unroll
        for (int i = 0; i < kA; ++i) {
#pragma unroll
          for (int j = 0; j < 2 * kB; ++j) {
            mma<Element>(acc[i][j], a[now][i], b[now][j / 2][j % 2 * 2],
                         b[now][j / 2][j % 2 * 2 + 1]);
          }
        }
      }
    }
  }

  __device__ void store(const float (&acc)[kA][2 * kB][4], const Work<c>& work) const {
    const MatrixArgument& d = arguments.d;
    Output* base = static_cast<Output*>(d.data) + work.batch * d.batch;
    const bool pairs = d.column == 1 && ((d.row | d.batch) & 1) == 0 &&
                       reinterpret_cast<unsigned long long>(base) % (2 * sizeof(Output)) == 0;
#pragma unroll
    for (int i = 0; i < kA * 2 * kB * 2; ++i) {
      const int j = i / 2 % (2 * kB), half = i % 2;
      const float(&value)[4] = acc[i / (4 * kB)][j];
      const Coordinate at = mma_c(lane, 2 * half);
      const int64 m = work.m() + warp_m + i / (4 * kB) * kFragmentExtent + at.row;
      const int64 n = work.n() + warp_n + j * 8 + at.column;
      if (m >= arguments.m || n >= arguments.n) continue;
      struct alignas(2 * sizeof(Output)) Pair {
        Output x, y;
      } pair;
      pair.x = from_float<Output>(Epilogue::apply(value[2 * half], arguments, work.batch, m, n));
      Output* to = base + m * d.row + n * d.column;
      const bool both = n + 1 < arguments.n;
      if (both) {
        pair.y = from_float<Output>(
            Epilogue::apply(value[2 * half + 1], arguments, work.batch, m, n + 1));
      }
      if (both && pairs) {
        *reinterpret_cast<Pair*>(to) = pair;
      } else {
        to[0] = pair.x;
        if (both) to[d.column] = pair.y;
      }
    }
  }
};

TILEWISE_HOST_DEVICE constexpr LaunchInfo mma_launch(Constants c) {
  const int bytes = kFragmentKBytes / c.instruction_k;
  const int line_a = c.a_k_major ? c.block_k : kPanelBytesAcross / bytes;
  const int line_b = c.b_k_major ? c.block_k : kPanelBytesAcross / bytes;
  LaunchInfo info;
  info.threads = mma_threads(c);
  info.shared_bytes = c.stages * c.block_k * bytes *
                          (c.block_m * (line_a + c.pad_elements) / line_a +
                           c.block_n * (line_b + c.pad_elements) / line_b) +
                      1024;
  info.tile_m = c.block_m;
  info.tile_n = c.block_n;
  info.tile_k = c.block_k;
  // Accumulators, two sets of fragments, and about 60 registers for addresses.
  const int registers =
      c.warp_m * c.warp_n / kWarpLanes + 8 * (c.warp_m + c.warp_n) / kFragmentExtent + 60;
  info.blocks_per_sm = 2 * registers * info.threads <= kRegistersPerSm ? 2 : 1;
  info.persistent = c.persistent || c.stream_k;
  ask_for_workspace(info, c, 1);
  return info;
}

template <Constants c, class Element, class Epilogue>
__device__ void mma(const KernelArguments& arguments) {
  using Kernel = Mma<c, Element, Epilogue>;
  static_assert(sizeof(Element) * c.instruction_k == kFragmentKBytes,
                "instruction.k is 32 bytes of elements: 16, or 8 for tf32");
  Kernel kernel(arguments, shared_map<typename Kernel::Shared>());
  const ThreadGroup block{0, 1, kernel.thread, Kernel::kThreads, 0, &kernel.shared.flag};
  WorkList<c> list(arguments, 0);
  float acc[Kernel::kA][2 * Kernel::kB][4];
  while (list.more()) {
    const Work<c> work = list.next();
    kernel.accumulate(acc, work);
    auto& sum = reinterpret_cast<float(&)[Kernel::kRegisters]>(acc);
    if (collect_partials(sum, arguments, list, work, block)) kernel.store(acc, work);
  }
}

}  // namespace tilewise
