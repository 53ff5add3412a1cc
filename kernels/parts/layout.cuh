// Where things lie: the index arithmetic of the float32 rungs. Plain functions of integers, called
// by the kernels and by host tests alike; what a page draws or a simulation counts comes from here.
#pragma once

#include "parts/arguments.cuh"
#include "parts/host_device.cuh"
#include "parts/swizzle.cuh"

namespace tilewise {

constexpr int kWarpThreads = 32;
constexpr int kChunkElements = 4;  // float32 elements of one 16-byte access

TILEWISE_HOST_DEVICE constexpr int64 num_tiles(int64 extent, int64 tile) {
  return (extent + tile - 1) / tile;
}

// How much of a tile that starts at `first` exists.
TILEWISE_HOST_DEVICE constexpr int clip(int64 extent, int64 first, int tile) {
  const int64 left = extent - first;
  return left < 0 ? 0 : left < tile ? static_cast<int>(left) : tile;
}

// An operand's float32 tile in shared memory: k rows of x elements, x being m for A and n for B.
// With pad, each row is longer by so many elements. With swizzle, the tile is cut into panels of
// swizzle_bytes along x, one after the other, and the 16-byte chunks inside each panel's row are
// permuted as the bulk copy does it (swizzle.cuh). At most one of the two.
struct SharedTile {
  int k, x;
  int pad = 0;
  int swizzle_bytes = 0;
  bool by_columns = false;  // x columns of k elements instead: A as it lies in global memory

  TILEWISE_HOST_DEVICE constexpr int pitch() const { return x + pad; }
  TILEWISE_HOST_DEVICE constexpr int elements() const { return k * pitch(); }
  TILEWISE_HOST_DEVICE constexpr int offset(int at_k, int at_x) const {
    if (by_columns) return at_x * k + at_k;
    if (swizzle_bytes == 0) return at_k * pitch() + at_x;
    const int panel = swizzle_bytes / 4;
    const int inside = swizzle(swizzle_bytes, at_k * swizzle_bytes + at_x % panel * 4);
    return at_x / panel * k * panel + inside / 4;
  }
  // Bytes from row to row, and what the swizzle does to a byte address in row k: with a tile at a
  // multiple of 128 bytes, (k, x) lies at (address of (0, x) ^ toggle_bytes(k)) + k * row_bytes().
  TILEWISE_HOST_DEVICE constexpr int row_bytes() const {
    return swizzle_bytes == 0 ? 4 * pitch() : swizzle_bytes;
  }
  TILEWISE_HOST_DEVICE constexpr int toggle_bytes(int at_k) const {
    return swizzle(swizzle_bytes, at_k * row_bytes()) - at_k * row_bytes();
  }
  TILEWISE_HOST_DEVICE constexpr bool valid() const {
    if (pad != 0 && swizzle_bytes != 0) return false;
    if (by_columns && (pad != 0 || swizzle_bytes != 0)) return false;
    return swizzle_bytes == 0 ? pad % kChunkElements == 0
                              : k % 8 == 0 && x % (swizzle_bytes / 4) == 0;
  }
};

// How the threads of a block share the copy of one tile, in pieces. `scalar`: one element a piece,
// `vector`: 16 bytes. `_x`: neighbouring threads lie along x, `_k`: along k first.
enum class CopyMode { scalar_x, scalar_k, vector_x, vector_k };

struct KX {
  int k, x;
  constexpr bool operator==(const KX&) const = default;
};

struct CopyLayout {
  CopyMode mode;
  int k, x;  // the tile
  int threads;
  int k_lanes = 8;  // `_k`: elements of k that neighbouring threads cover before x moves on

  TILEWISE_HOST_DEVICE constexpr bool along_k() const {
    return mode == CopyMode::scalar_k || mode == CopyMode::vector_k;
  }
  TILEWISE_HOST_DEVICE constexpr int width() const {
    return mode == CopyMode::vector_x || mode == CopyMode::vector_k ? kChunkElements : 1;
  }
  TILEWISE_HOST_DEVICE constexpr int pieces() const { return k * x / width(); }
  TILEWISE_HOST_DEVICE constexpr int pieces_per_thread() const {
    return (pieces() + threads - 1) / threads;
  }
  // First element of a piece. Thread t copies pieces t, t + threads, ...
  TILEWISE_HOST_DEVICE constexpr KX at(int piece) const {
    if (!along_k()) {
      const int per_row = x / width();
      return {piece / per_row, piece % per_row * width()};
    }
    const int k_step = k < k_lanes ? k : k_lanes;
    const int per_column = k_step / width();
    const int column = piece / per_column;
    return {column / x * k_step + piece % per_column * width(), column % x};
  }
  // Whether piece t + i * threads lies at at(t) + at(i * threads), for every t and i.
  TILEWISE_HOST_DEVICE constexpr bool regular() const {
    if (pieces() % threads != 0) return false;
    const int run = along_k() ? (k < k_lanes ? k : k_lanes) / width() : x / width();
    const int across = along_k() ? threads / run : 1;
    return threads % run == 0 && (!along_k() || x % across == 0);
  }
};

// A thread's share of a tile of width `span` along one dimension: `count` elements in `repeat`
// strided pieces. Element i of thread j (schedule.h: repeat_m, repeat_n).
TILEWISE_HOST_DEVICE constexpr int thread_element(int span, int count, int repeat, int j, int i) {
  const int threads = (span + count - 1) / count;
  const int piece = count / repeat;
  return i / piece * threads * piece + j * piece + i % piece;
}

struct MN {
  int m, n;
  constexpr bool operator==(const MN&) const = default;
};

// Lanes of a warp over a grid of lanes_m x lanes_n = 32 threads, both at least 2. Bit 0 of the lane
// runs along n and bit 1 along m: a 16-byte read of shared memory needs one wavefront instead of
// two for each half of a warp when lanes i and i^1 (or i and i^2) read the same address, and so
// both the read of A and the read of B qualify. The longer side takes bits 2 and 3, which keeps
// each half warp's distinct addresses within 128 bytes.
TILEWISE_HOST_DEVICE constexpr MN lane_position(int lane, int lanes_m, int lanes_n) {
  const int low_n = lane & 1, low_m = lane >> 1 & 1, high = lane >> 2;
  if (lanes_m >= lanes_n) {
    const int rest = lanes_m / 2;
    return {low_m + high % rest * 2, low_n + high / rest * 2};
  }
  const int rest = lanes_n / 2;
  return {low_m + high / rest * 2, low_n + high % rest * 2};
}

}  // namespace tilewise
