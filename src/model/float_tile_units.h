// Units of the float32 tiles of rungs 03 to 10: their copies from global memory, their stores to
// shared memory and the reads of the register tiles.
#pragma once

#include <cstdint>

#include "parts/layout.cuh"

namespace tilewise {

// An operand in global memory as a tile sees it; bytes between neighbours along k and along x.
struct FloatOperand {
  std::int64_t k_stride_bytes = 0, x_stride_bytes = 0;
};

// Sectors of one tile's copy by all threads of a block. offset_bytes: of the tile's first element,
// in a sector (asynchronous: in a 128-byte line). k_left, x_left: what exists of the tile; the rest
// is not read. asynchronous: where not null, cp.async copies to this tile, and 16-byte ones count
// as tilewise/access.h says.
[[nodiscard]] std::int64_t tile_copy_sectors(const CopyLayout& layout, const FloatOperand& operand,
                                             std::int64_t offset_bytes, int k_left, int x_left,
                                             const SharedTile* asynchronous = nullptr);

// Wavefronts of that copy's writes to shared memory, zeros included: stores from registers.
[[nodiscard]] std::int64_t store_wavefronts(const CopyLayout& layout, const SharedTile& tile);

// The same by cp.async, into a tile at a multiple of 128 bytes. whole: the kernel knows that the
// tile exists in full, and copies 16 bytes without saying how many to read.
[[nodiscard]] std::int64_t async_wavefronts(const CopyLayout& layout, const SharedTile& tile,
                                            const FloatOperand& operand, std::int64_t offset_bytes,
                                            int k_left, int x_left, bool whole);
// Whether these are known: not where 16-byte copies fill up padded rows with zeros
// (tilewise/access.h, copy_wavefronts).
[[nodiscard]] bool knows_async_wavefronts(const CopyLayout& layout, const SharedTile& tile,
                                          bool fills_zeros);

// How a thread's elements along one dimension lie in the tile: element i of thread j of `span`
// (kernels/parts/layout.cuh, thread_element), read `width` elements at a time.
struct FragmentLayout {
  int span, count, repeat;
  int width;  // 1 or 4
};

// Wavefronts of one warp that reads its fragments at every k of the tile. first[lane]: the lane's
// first element along x.
[[nodiscard]] std::int64_t fragment_wavefronts(const SharedTile& tile, const FragmentLayout& layout,
                                               const int (&first)[kWarpThreads]);

}  // namespace tilewise
