// How tiles move: global -> registers -> shared, global -> shared (cp.async), registers -> global.
// Every copy is correct for any extent, stride and base; the 16-byte ways are chosen at compile
// time, from Constants::aligned_16, a_k_major and b_k_major (copy_mode), never silently later.
#pragma once

#include "parts/arguments.cuh"
#include "parts/element.cuh"
#include "parts/layout.cuh"
#include "parts/ptx.cuh"

namespace tilewise {

// The way to copy an operand that is contiguous along k (k_major) or along x.
TILEWISE_HOST_DEVICE constexpr CopyMode copy_mode(bool k_major, bool vector) {
  if (k_major) return vector ? CopyMode::vector_k : CopyMode::scalar_k;
  return vector ? CopyMode::vector_x : CopyMode::scalar_x;
}

// The same for cp.async, which cannot transpose 16 bytes.
TILEWISE_HOST_DEVICE constexpr CopyMode async_copy_mode(bool k_major, bool vector) {
  return copy_mode(k_major, vector && !k_major);
}

// An operand as a tile sees it: x is m for A and n for B.
struct Operand {
  const float* data;  // element (k = 0, x = first of the tile)
  int64 k_stride, x_stride;
  int x_left;  // elements of the tile along x that exist
};

__device__ inline Operand operand_a(const KernelArguments& arguments, int64 batch, int64 m,
                                    int tile) {
  const MatrixArgument& a = arguments.a;
  return {static_cast<const float*>(a.data) + batch * a.batch + m * a.row, a.column, a.row,
          clip(arguments.m, m, tile)};
}

__device__ inline Operand operand_b(const KernelArguments& arguments, int64 batch, int64 n,
                                    int tile) {
  const MatrixArgument& b = arguments.b;
  return {static_cast<const float*>(b.data) + batch * b.batch + n * b.column, b.row, b.column,
          clip(arguments.n, n, tile)};
}

// Whether the swizzle of every piece follows from that of the thread's first piece: no carry in k,
// whole panels along x.
TILEWISE_HOST_DEVICE constexpr bool steps_repeat(const CopyLayout& layout, const SharedTile& tile) {
  if (tile.swizzle_bytes == 0) return true;
  for (int i = 0; i < layout.pieces_per_thread(); ++i) {
    const KX step = layout.at(i * layout.threads);
    if (step.x % (tile.swizzle_bytes / 4) != 0) return false;
    for (int thread = 0; thread < layout.threads; ++thread) {
      const int k = layout.at(thread).k;
      if (tile.toggle_bytes(k + step.k) != (tile.toggle_bytes(k) ^ tile.toggle_bytes(step.k)))
        return false;
    }
  }
  return true;
}

// One thread's share of the copies of an operand's tiles, phase by phase along k.
template <CopyLayout kLayout, SharedTile kTile>
struct TileCopy {
  static constexpr int kPieces = kLayout.pieces_per_thread();
  static constexpr int kWidth = kLayout.width();
  static constexpr bool kAlongK = kLayout.along_k();
  static_assert(kTile.valid(),
                "pad is a multiple of 4 elements; a swizzle needs block k a multiple of "
                "8 and whole panels along x; never both");
  static_assert(kLayout.regular(),
                "the threads of the block must cover the tile in equal shares: change its extents");

  static_assert(
      steps_repeat(kLayout, kTile),
      "a thread's pieces must repeat with the swizzle: change the threads or the swizzle");

  const float* source;  // this thread's piece 0 of the next tile
  int64 k_stride, x_stride;
  int to;  // where piece 0 goes, in elements

  __device__ explicit TileCopy(const Operand& operand)
      : k_stride(operand.k_stride), x_stride(operand.x_stride) {
    const KX at = first();
    source = operand.data + at.k * k_stride + at.x * x_stride;
    to = kTile.offset(at.k, at.x);
  }

  // Piece 0 of this thread. Computed again where it is asked for, rather than kept in registers.
  __device__ static KX first() { return kLayout.at(static_cast<int>(opaque(threadIdx.x))); }

  // Contiguous dimensions have stride 1: known at compile time for vectors.
  __device__ int64 stride_k() const { return kLayout.mode == CopyMode::vector_k ? 1 : k_stride; }
  __device__ int64 stride_x() const { return kLayout.mode == CopyMode::vector_x ? 1 : x_stride; }

  __device__ const float* piece(int i) const {
    const KX step = kLayout.at(i * kLayout.threads);
    return source + step.k * stride_k() + step.x * stride_x();
  }
  // Elements of piece i that exist; the rest of it becomes zero.
  __device__ int left(KX first, int i, int k_left, int x_left) const {
    const KX step = kLayout.at(i * kLayout.threads);
    const KX at{first.k + step.k, first.x + step.x};
    const int along = kAlongK ? k_left - at.k : x_left - at.x;
    const bool inside = kAlongK ? at.x < x_left : at.k < k_left;
    return !inside || along < 0 ? 0 : along < kWidth ? along : kWidth;
  }
  __device__ unsigned shared(unsigned tile, int i) const {
    const KX step = kLayout.at(i * kLayout.threads);
    if constexpr (kTile.swizzle_bytes == 0) return tile + 4 * (to + kTile.offset(step.k, step.x));
    return ((tile + 4 * to) ^ kTile.toggle_bytes(step.k)) + step.k * kTile.row_bytes() +
           4 * kTile.offset(0, step.x);
  }

  // Moves on along k by so many tiles.
  __device__ void advance(int64 tiles = 1) { source += tiles * kTile.k * stride_k(); }

  // Global -> registers. kWhole: the whole tile is known to exist, else k_left elements along k do.
  template <bool kWhole>
  __device__ void load(float (&value)[kPieces * kWidth], int k_left, int x_left) const {
    const KX at = kWhole ? KX{} : first();
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int count = kWhole ? kWidth : left(at, i, k_left, x_left);
      float* v = value + i * kWidth;
      if (kWidth == kChunkElements && count == kChunkElements) {
        ld_global_v4_f32(v, piece(i));
      } else {
#pragma unroll
        for (int j = 0; j < kWidth; ++j) v[j] = j < count ? piece(i)[j] : 0.0f;
      }
    }
  }

  // Registers -> shared. A vector along k is stored transposed, element by element.
  __device__ void store(unsigned tile, const float (&value)[kPieces * kWidth]) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if constexpr (kLayout.mode == CopyMode::vector_x) {
        st_shared_v4_f32(shared(tile, i), value + i * kWidth);
      } else {
        // Piece 0 starts at a multiple of kWidth along k: no carry between the two toggles.
#pragma unroll
        for (int j = 0; j < kWidth; ++j)
          st_shared_f32((shared(tile, i) ^ kTile.toggle_bytes(j)) + j * kTile.row_bytes(),
                        value[i * kWidth + j]);
      }
    }
  }

  // Global -> shared, asynchronously. kWhole: the whole tile is known to exist.
  template <bool kWhole>
  __device__ void copy_async(unsigned tile, int k_left, int x_left) const {
    static_assert(kLayout.mode != CopyMode::vector_k,
                  "cp.async cannot transpose 16 bytes: copy a k-major operand by elements");
    const KX at = kWhole ? KX{} : first();
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if constexpr (kWhole) {
        kWidth == 1 ? cp_async_4(shared(tile, i), piece(i))
                    : cp_async_16(shared(tile, i), piece(i));
      } else {
        // HAZARD: the address may lie outside the allocation; with no source bytes nothing is read.
        const int bytes = 4 * left(at, i, k_left, x_left);
        kWidth == 1 ? cp_async_4(shared(tile, i), piece(i), bytes)
                    : cp_async_16(shared(tile, i), piece(i), bytes);
      }
    }
  }
};

// D = epilogue(accumulator) at (m, n), if it exists.
template <class Element, class Epilogue>
__device__ inline void store_element(const KernelArguments& arguments, int64 batch, int64 m,
                                     int64 n, float accumulator) {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  if (m >= arguments.m || n >= arguments.n) return;
  const MatrixArgument& d = arguments.d;
  Output* to = static_cast<Output*>(d.data) + batch * d.batch + m * d.row + n * d.column;
  *to = from_float<Output>(Epilogue::template apply<float>(accumulator, arguments, batch, m, n));
}

// Four neighbours along n, all of which exist, by one 16-byte store.
template <class Epilogue>
__device__ inline void store_chunk(const KernelArguments& arguments, int64 batch, int64 m, int64 n,
                                   const float* accumulator) {
  float value[kChunkElements];
#pragma unroll
  for (int j = 0; j < kChunkElements; ++j)
    value[j] = Epilogue::template apply<float>(accumulator[j], arguments, batch, m, n + j);
  const MatrixArgument& d = arguments.d;
  st_global_v4_f32(static_cast<float*>(d.data) + batch * d.batch + m * d.row + n, value);
}

// Whether every 4-element chunk of every row of D is a 16-byte word.
__device__ inline bool vector_store(const KernelArguments& arguments) {
  const MatrixArgument& d = arguments.d;
  return d.column == 1 && d.row % kChunkElements == 0 && d.batch % kChunkElements == 0 &&
         reinterpret_cast<unsigned long long>(d.data) % (4 * kChunkElements) == 0;
}

}  // namespace tilewise
