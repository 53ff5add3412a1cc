// The tile of one operand in shared memory, as cp.async writes it and ldmatrix reads it; where
// things lie in it: parts/operand_layout.cuh. x is m for A and n for B.
#pragma once

#include "parts/arguments.cuh"
#include "parts/element.cuh"
#include "parts/fragment.cuh"
#include "parts/operand_layout.cuh"
#include "parts/ptx_mma.cuh"

namespace tilewise {

// The tiles of an operand that one work needs, one after another along k.
template <class Element>
struct OperandView {
  const Element* data;       // the first element of the first tile
  int64 stride_x, stride_k;  // elements
  int64 x_left;              // elements from there on; what lies beyond is zero
};

template <class Element, Role kRole, bool kKMajor, int kExtent, int kBlockK, int kPad, int kSwizzle,
          int kThreads>
struct OperandTile {
  static constexpr int kSize = static_cast<int>(sizeof(Element));
  static constexpr OperandLayout kLayout{kRole, kKMajor,  kExtent,  kBlockK,
                                         kPad,  kSwizzle, kThreads, kSize};
  static constexpr int kChunk = kLayout.chunk();  // elements of a 16-byte piece
  static constexpr int kLineElements = kLayout.line_elements();
  static constexpr int kLines = kLayout.lines();
  static constexpr int kPanels = kLayout.panels();
  static constexpr int kPitch = kLayout.pitch();
  static constexpr int kPanelBytes = kLayout.panel_bytes();
  static constexpr int kBytes = kLayout.bytes();
  static constexpr int kLineChunks = kLayout.line_chunks();
  static constexpr int kPieces = kLayout.pieces();
  static_assert(kKMajor || kExtent % kLineElements == 0,
                "an operand along m or n needs a block extent that is a multiple of 128 bytes");
  static_assert(kPanels * kLines * kLineChunks % kThreads == 0,
                "the block's threads must share the 16-byte pieces of a tile evenly");
  static_assert(kPitch % kSwizzleChunkBytes == 0, "pad by a multiple of 16 bytes");
  static_assert(kPad == 0 || kSwizzle == 0, "pad or swizzle, not both");
  // A fragment further on keeps the swizzle's pattern.
  static_assert(kSwizzle == 0 || kFragmentExtent * kPitch % swizzle_period_bytes(kSwizzle) == 0,
                "lines of at least 64 bytes: raise block.k");

  using Piece = OperandLayout::Piece;
  static constexpr int kPassLines = kThreads / kLineChunks;  // lines that all threads fill at once
  static_assert(kThreads % kLineChunks == 0 && kPassLines % 8 == 0 &&
                    (kLines % kPassLines == 0 || kPassLines % kLines == 0),
                "a pass of the block's threads must fill whole lines, a multiple of 8");

  // One thread's share of the copies of this operand, 16 bytes at a time, asynchronously. No
  // branches: the copies have to mix with the products of a tile that is there already.
  struct VectorCopier {
    const Element* data;  // piece 0 of the next tile
    int64 pass, tile;     // elements to the piece one pass further on, and to the next tile
    int x_left, k_first;
    int thread;

    __device__ VectorCopier(const OperandView<Element>& view, int this_thread)
        : thread(this_thread) {
      const Piece first = kLayout.piece(thread);
      data = view.data +
             (kKMajor ? first.x * view.stride_x + first.k : first.k * view.stride_k + first.x);
      pass = kPassLines * (kKMajor ? view.stride_x : view.stride_k);
      tile = kBlockK * (kKMajor ? 1 : view.stride_k);
      x_left = (view.x_left < kExtent ? static_cast<int>(view.x_left) : kExtent) - first.x;
      k_first = first.k;
    }

    __device__ void advance() { data += tile; }

    // Part `part` of kParts of the next tile, which has k_in_tile elements along k; zeros beyond.
    template <int kParts>
    __device__ void copy(unsigned char* to_tile, int part, int k_in_tile) const {
      constexpr int kEach = (kPieces + kParts - 1) / kParts;
      const unsigned to = shared_address(to_tile) + kLayout.piece(thread).offset;
      const int k_left = k_in_tile - k_first;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        if (i / kEach != part) continue;
        const Piece step = kLayout.piece(i * kThreads);
        const int along = kKMajor ? k_left : x_left - step.x;
        const bool exists = kKMajor ? step.x < x_left : step.k < k_left;
        const int count = along <= 0 ? 0 : along < kChunk ? along : kChunk;
        const int64 at = kKMajor ? i * pass : step.k / kPassLines * pass + step.x;
        // HAZARD: the address may lie outside the allocation; with no source bytes nothing is read.
        cp_async_16(to + step.offset, data + at, exists ? count * kSize : 0);
      }
    }
  };

  // The same element by element, for any strides.
  struct ElementCopier {
    OperandView<Element> view;
    int thread;

    __device__ ElementCopier(const OperandView<Element>& operand, int this_thread)
        : view(operand), thread(this_thread) {}

    __device__ void advance() { view.data += kBlockK * view.stride_k; }

    template <int kParts>
    __device__ void copy(unsigned char* to_tile, int part, int k_in_tile) const {
      constexpr int kEach = (kPieces + kParts - 1) / kParts;
#pragma unroll 1
      for (int i = part * kEach; i < kPieces && i < (part + 1) * kEach; ++i) {
        const Piece at = kLayout.piece(thread + i * kThreads);
        struct alignas(kSwizzleChunkBytes) Chunk {
          Element value[kChunk];
        } chunk;
#pragma unroll
        for (int j = 0; j < kChunk; ++j) {
          const int x = kKMajor ? at.x : at.x + j, k = kKMajor ? at.k + j : at.k;
          const bool exists = x < view.x_left && k < k_in_tile;
          chunk.value[j] = exists ? view.data[x * view.stride_x + k * view.stride_k] : Element{};
        }
        *reinterpret_cast<Chunk*>(to_tile + at.offset) = chunk;
      }
    }
  };

  // Where a lane reads. Fragments differ by a place in the line, which the swizzle turns into an
  // exclusive or, and by whole groups of 8 lines, which it leaves alone.
  struct Reader {
    unsigned address;

    // first: of the warp's tile along x; inside one panel, or at the start of one.
    __device__ Reader(const unsigned char* tile, int first, int lane)
        : address(shared_address(tile) + kLayout.lane_offset(first, lane)) {}

    // Fragment i along x, at the step-th 32 bytes of k, of the tile `stage_bytes` further on. Two
    // fragments of B: registers 0, 1 and 2, 3.
    __device__ void load(unsigned (&r)[4], int stage_bytes, int i, int step) const {
      const unsigned place = kLayout.fragment_place(i, step), at = address + stage_bytes;
      const unsigned row =
          (kSwizzle == 0 ? at + place : at ^ place) + kLayout.fragment_step(i, step);
      if constexpr (kKMajor) {
        ldmatrix_x4(r, row);
      } else {
        static_assert(kSize == 2);
        ldmatrix_x4_trans(r, row);
      }
    }
  };

  // 32-bit elements along m or n: ldmatrix cannot transpose them.
  static __device__ void load_elements(unsigned (&r)[4], const unsigned char* tile, int first,
                                       int step, int lane) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      r[j] =
          *reinterpret_cast<const unsigned*>(tile + kLayout.element_offset(first, step, lane, j));
    }
  }
};

}  // namespace tilewise
