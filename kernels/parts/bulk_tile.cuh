// The tile of one operand in a stage of shared memory, as the bulk copy writes it and wgmma reads
// it: lines of 128 bytes under the 128-byte swizzle.
//
//   along k:      line r holds block_k elements of row (column) r of A (B)       (extent, block_k)
//   along m or n: chunk c, line k holds 64 neighbours of m or n at that k        (extent / 64,
//   block_k, 64)
#pragma once

#include "parts/host_device.cuh"
#include "parts/ptx_hopper.cuh"
#include "parts/ptx_wgmma.cuh"

namespace tilewise {

constexpr int kLineBytes = 128;                // one row of the swizzle pattern
constexpr int kPatternBytes = 8 * kLineBytes;  // after which it repeats
constexpr int kInstructionKBytes = 32;  // k of one wgmma: 8 tf32, 16 of 16 bits, 32 of 8 bits
constexpr int kMaxBoxExtent = 256;

// What the host encodes: extents of a box in elements. share: blocks of the cluster that each fetch
// an equal part and multicast it.
struct BulkBox {
  int inner = 0, outer = 0;
};
TILEWISE_HOST_DEVICE constexpr BulkBox bulk_box(bool k_major, int extent, int block_k,
                                                int element_bytes, int share) {
  return {kLineBytes / element_bytes, (k_major ? extent : block_k) / share};
}

// Bytes of an element of D, as the launch function knows it: that of A and B where nothing is said,
// and 2 for 8-bit elements.
TILEWISE_HOST_DEVICE constexpr int output_bytes(const Constants& c) {
  const int bytes = kInstructionKBytes / c.instruction_k;
  return c.d_bytes != 0 ? c.d_bytes : bytes == 1 ? 2 : bytes;
}

// kExtent: block_m of A, block_n of B.
template <class Element, bool kKMajor, int kExtent, int kBlockK, int kShare>
struct BulkTile {
  static constexpr int kBytes = kExtent * kBlockK * static_cast<int>(sizeof(Element));
  static constexpr int kLine = kLineBytes / static_cast<int>(sizeof(Element));  // elements
  static constexpr BulkBox kBox =
      bulk_box(kKMajor, kExtent, kBlockK, static_cast<int>(sizeof(Element)), kShare);
  static constexpr int kPartBytes = kBox.outer * kLineBytes;
  static_assert(!kKMajor || kBlockK == kLine, "block.k must fill one 128-byte line");
  static_assert(kKMajor || kExtent % kLine == 0,
                "an operand along m or n needs a block extent that is a multiple of 64");
  static_assert(kPartBytes % kPatternBytes == 0 && kBox.outer <= kMaxBoxExtent,
                "the part that a block of the cluster fetches must be 8 to 256 lines");

  // This block's part of the tile at `first` (of m or n) and k, for itself or for the blocks in
  // `blocks`.
  static __device__ void load(unsigned char* tile, const TensorMap* map, Barrier* full, int first,
                              int k, int batch, int part, unsigned blocks) {
    if constexpr (kKMajor) {
      copy(tile + part * kPartBytes, map, full, k, first + part * kBox.outer, batch, blocks);
    } else {
#pragma unroll
      for (int chunk = 0; chunk < kExtent / kLine; ++chunk) {
        copy(tile + chunk * kBlockK * kLineBytes + part * kPartBytes, map, full,
             first + chunk * kLine, k + part * kBox.outer, batch, blocks);
      }
    }
  }

  // The operand of the wgmma that starts at `first` (of m or n, a multiple of 64) and k = 0.
  static __device__ uint64 descriptor(const unsigned char* tile, int first) {
    if constexpr (kKMajor) {
      return wgmma_descriptor(tile + first * kLineBytes, 0, kPatternBytes);
    } else {
      return wgmma_descriptor(tile + first / kLine * kBlockK * kLineBytes, kBlockK * kLineBytes,
                              kPatternBytes);
    }
  }

  // From one instruction to the next along k.
  static constexpr int kStepBytes =
      kKMajor ? kInstructionKBytes
              : kInstructionKBytes / static_cast<int>(sizeof(Element)) * kLineBytes;

 private:
  static __device__ void copy(unsigned char* to, const TensorMap* map, Barrier* full, int inner,
                              int outer, int batch, unsigned blocks) {
    if constexpr (kShare == 1) {
      tma_load(to, map, full, inner, outer, batch);
    } else {
      tma_load_multicast(to, map, full, inner, outer, batch, blocks);
    }
  }
};

// Position in a ring of stages, and the parity of the barriers' phases there.
template <int kStages>
struct Ring {
  int stage = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ void skip(int steps) {
    const int next = stage + steps;
    parity ^= static_cast<unsigned>(next / kStages) & 1;
    stage = next % kStages;
  }
};

}  // namespace tilewise
