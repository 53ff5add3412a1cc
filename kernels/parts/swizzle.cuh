// Where an element of a tile lies in shared memory. Plain constexpr functions, shared by the
// kernels, the model and the host tests.
#pragma once

#include "parts/host_device.cuh"

namespace tilewise {

constexpr int kSharedBanks = 32;
constexpr int kSharedBankBytes = 4;
constexpr int kSwizzleChunkBytes = 16;  // what a swizzle moves is never split
constexpr int kSwizzleLineBytes = 128;  // all banks once

// The swizzle of the bulk copy (TMA) and of wgmma's operand reads: 16-byte chunks within a 128-byte
// line change places by the line's number. swizzle_bytes 32, 64 or 128: address bits 4.. (1, 2 or 3
// of them) are XORed with bits 7.. of the byte offset; 0 is no swizzle. The offset is from a base
// aligned to 8 * swizzle_bytes (the pattern's period), and the swizzle is its own inverse.
TILEWISE_HOST_DEVICE constexpr int swizzle(int swizzle_bytes, int offset_bytes) {
  if (swizzle_bytes == 0) return offset_bytes;
  const int mask = swizzle_bytes / kSwizzleChunkBytes - 1;
  const int line = offset_bytes / kSwizzleLineBytes;
  return offset_bytes ^ ((line & mask) * kSwizzleChunkBytes);
}

// Bytes after which the pattern repeats: the alignment that a swizzled buffer needs.
TILEWISE_HOST_DEVICE constexpr int swizzle_period_bytes(int swizzle_bytes) {
  return swizzle_bytes == 0 ? kSwizzleChunkBytes : 8 * swizzle_bytes;
}

// Byte offset of (row, column_bytes) in a tile whose rows are row_bytes long, with pad_bytes added
// to each row ("pad:N") or a swizzle ("swizzle:N"), never both.
TILEWISE_HOST_DEVICE constexpr int shared_offset(int row, int column_bytes, int row_bytes,
                                                 int pad_bytes, int swizzle_bytes) {
  return swizzle(swizzle_bytes, row * (row_bytes + pad_bytes) + column_bytes);
}

// The bank of a byte offset.
TILEWISE_HOST_DEVICE constexpr int shared_bank(int offset_bytes) {
  return offset_bytes / kSharedBankBytes % kSharedBanks;
}

}  // namespace tilewise
