// Units of the operand tiles of rung 12: copies from global memory, writes to shared memory, reads
// by ldmatrix; and of rung 11's tiles, which come straight from global memory.
#pragma once

#include <cstdint>

#include "parts/operand_layout.cuh"

namespace tilewise {

// An operand in global memory; bytes between neighbours along x (m or n) and along k.
struct TensorOperand {
  std::int64_t x_stride_bytes = 0, k_stride_bytes = 0;
};

// Sectors of one tile's copy by all threads of a block, 16 bytes a piece (vector) or by elements.
[[nodiscard]] std::int64_t operand_sectors(const OperandLayout& layout,
                                           const TensorOperand& operand, bool vector,
                                           std::int64_t offset_bytes, int x_left, int k_left);

// Wavefronts of that copy's writes, zeros included: stores of the elements' 16-byte pieces.
[[nodiscard]] std::int64_t operand_store_wavefronts(const OperandLayout& layout);

// The same by cp.async, 16 bytes a piece, whose first one reads at offset_bytes in a 128-byte line.
[[nodiscard]] std::int64_t operand_async_wavefronts(const OperandLayout& layout,
                                                    const TensorOperand& operand,
                                                    std::int64_t offset_bytes);
// Whether these are known, of tiles that are partly filled with zeros: not in padded lines
// (tilewise/access.h, copy_wavefronts).
[[nodiscard]] bool knows_operand_async_wavefronts(const OperandLayout& layout);

// Wavefronts of the fragments of one warp whose tile is `extent` long from `first` on, at one step
// of k.
[[nodiscard]] std::int64_t operand_read_wavefronts(const OperandLayout& layout, int first,
                                                   int extent, int step);

// A 16 x 16 tile of rung 11 whose slow dimension has pitch_bytes between lines.
struct WmmaUnits {
  std::int64_t sectors = 0, write_wavefronts = 0, read_wavefronts = 0;
};
// direct: loaded where it lies. Otherwise element by element through shared memory; k_major: lines
// are along k.
[[nodiscard]] WmmaUnits wmma_units(const TensorOperand& operand, bool k_major, bool direct,
                                   int size, std::int64_t offset_bytes, int x_left, int k_left);
// Wavefronts of a (16, 16) float32 accumulator, written by the instruction's own store and read
// back by rows as far as D has them.
[[nodiscard]] std::int64_t wmma_store_wavefronts();
[[nodiscard]] std::int64_t wmma_row_wavefronts(int m_left, int n_left);

}  // namespace tilewise
