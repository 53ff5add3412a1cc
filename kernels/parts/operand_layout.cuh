// Where an operand of rung 12 lies in shared memory, which pieces of it a thread copies and where a
// lane reads a fragment. Plain functions of integers, called by the kernel and by the host alike.
//
//   along k:      line x holds block_k elements of row (column) x of A (B)
//   along m or n: panel p, line k holds 128 bytes of neighbours of m or n at that k
//
// x is m for A and n for B. Lines may be padded or swizzled (parts/swizzle.cuh).
#pragma once

#include "parts/host_device.cuh"
#include "parts/swizzle.cuh"

namespace tilewise {

constexpr int kPanelBytesAcross = 128;
constexpr int kFragmentExtent = 16;  // along m or n: one fragment of A, two of B
constexpr int kFragmentKBytes = 32;  // along k

enum class Role { a, b };

struct OperandLayout {
  Role role;
  bool k_major;
  int extent, block_k;  // elements along x and along k
  int pad;              // elements
  int swizzle_bytes;
  int threads;  // that share the copies
  int size;     // bytes of an element

  TILEWISE_HOST_DEVICE constexpr int chunk() const { return kSwizzleChunkBytes / size; }
  TILEWISE_HOST_DEVICE constexpr int line_elements() const {
    return k_major ? block_k : kPanelBytesAcross / size;
  }
  TILEWISE_HOST_DEVICE constexpr int lines() const { return k_major ? extent : block_k; }
  TILEWISE_HOST_DEVICE constexpr int panels() const {
    return k_major ? 1 : extent / line_elements();
  }
  TILEWISE_HOST_DEVICE constexpr int pitch() const { return (line_elements() + pad) * size; }
  TILEWISE_HOST_DEVICE constexpr int panel_bytes() const { return lines() * pitch(); }
  TILEWISE_HOST_DEVICE constexpr int bytes() const { return panels() * panel_bytes(); }
  TILEWISE_HOST_DEVICE constexpr int line_chunks() const { return line_elements() / chunk(); }
  // 16-byte pieces of a thread.
  TILEWISE_HOST_DEVICE constexpr int pieces() const {
    return panels() * lines() * line_chunks() / threads;
  }

  // Which part of the operand a 16-byte piece of the tile holds, and its byte offset in the tile. A
  // thread's i-th piece is piece 0 moved by those of index i * threads.
  struct Piece {
    int x = 0, k = 0, offset = 0;
  };
  TILEWISE_HOST_DEVICE constexpr Piece piece(int index) const {
    const int at = index % line_chunks(), line = index / line_chunks() % lines();
    const int panel = index / (line_chunks() * lines());
    return {
        k_major ? line : panel * line_elements() + at * chunk(), k_major ? at * chunk() : line,
        panel * panel_bytes() + swizzle(swizzle_bytes, line * pitch() + at * kSwizzleChunkBytes)};
  }

  // Byte offset of the 16-byte row that a lane names to ldmatrix, for the fragment at `first` along
  // x (inside one panel, or at the start of one) and k = 0.
  TILEWISE_HOST_DEVICE constexpr int lane_offset(int first, int lane) const {
    int panel = 0, line = 0, at = 0;
    if (k_major) {
      line = first + (role == Role::a ? lane % 16 : lane % 8 + 8 * (lane / 16));
      at = kSwizzleChunkBytes * (role == Role::a ? lane / 16 : lane / 8 % 2);
    } else {
      const int x = first + 8 * (role == Role::a ? lane / 8 % 2 : lane / 16);
      panel = x / line_elements();
      line = role == Role::a ? lane % 8 + 8 * (lane / 16) : lane % 16;
      at = x % line_elements() * size;
    }
    return panel * panel_bytes() + swizzle(swizzle_bytes, line * pitch() + at);
  }
  // From there to fragment i along x at the step-th 32 bytes of k: some bits are toggled (added
  // where there is no swizzle), the rest is added.
  TILEWISE_HOST_DEVICE constexpr int fragment_place(int i, int step) const {
    return kFragmentKBytes * (k_major ? step : i % (line_elements() / kFragmentExtent));
  }
  TILEWISE_HOST_DEVICE constexpr int fragment_step(int i, int step) const {
    if (k_major) return i * kFragmentExtent * pitch();
    return i / (line_elements() / kFragmentExtent) * panel_bytes() +
           step * (kFragmentKBytes / size) * pitch();
  }

  // Byte offset of register j of a lane's fragment at `first` and step, for 32-bit elements along m
  // or n, which are read one by one. Registers of A: x, x + 8, then k + 4; of two B: k, k + 4, then
  // x + 8.
  TILEWISE_HOST_DEVICE constexpr int element_offset(int first, int step, int lane, int j) const {
    const int high_x = role == Role::a ? j % 2 : j / 2, high_k = role == Role::a ? j / 2 : j % 2;
    const int x = first + lane / 4 + 8 * high_x, k = 8 * step + lane % 4 + 4 * high_k;
    return x / line_elements() * panel_bytes() +
           swizzle(swizzle_bytes, k * pitch() + x % line_elements() * size);
  }
};

}  // namespace tilewise
