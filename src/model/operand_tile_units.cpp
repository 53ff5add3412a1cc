#include "model/operand_tile_units.h"

#include "parts/fragment.cuh"
#include "tilewise/access.h"

namespace tilewise {
namespace {

constexpr int kWmmaEdge = 16;
constexpr int kMatrices = 4;  // of an ldmatrix.x4
constexpr int kMatrixRows = 8;

// The four 8 x 8 matrices of an ldmatrix.x4 come one after another; lane l names row l % 8 of
// matrix l / 8.
template <class AddressOfLane>
std::int64_t ldmatrix_wavefronts(AddressOfLane address) {
  std::int64_t wavefronts = 0;
  for (int matrix = 0; matrix < kMatrices; ++matrix) {
    const auto access = warp_access(kSwizzleChunkBytes, [&](int lane) {
      return lane < kMatrixRows ? address(matrix * kMatrixRows + lane) : WarpAccess::kInactive;
    });
    wavefronts += shared_access(access).wavefronts;
  }
  return wavefronts;
}

// A fragment of rung 11 as four 4-byte loads of a lane: lines lane / 4 and 8 further on, bytes
// 4 (lane % 4) and 16 further on.
template <class AddressOfLineAndByte>
void for_wmma_loads(AddressOfLineAndByte address, void (*add)(const WarpAccess&, std::int64_t&),
                    std::int64_t& sum) {
  for (int i = 0; i < 4; ++i) {
    add(warp_access(4,
                    [&](int lane) {
                      return address(lane / 4 + 8 * (i % 2), 4 * (lane % 4) + 16 * (i / 2));
                    }),
        sum);
  }
}

void add_sectors(const WarpAccess& access, std::int64_t& sum) {
  sum += global_access(access).sectors;
}
void add_wavefronts(const WarpAccess& access, std::int64_t& sum) {
  sum += shared_access(access).wavefronts;
}

}  // namespace

std::int64_t operand_sectors(const OperandLayout& layout, const TensorOperand& operand, bool vector,
                             std::int64_t offset_bytes, int x_left, int k_left) {
  const int chunk = layout.chunk(), accesses = vector ? 1 : chunk;
  std::int64_t sectors = 0;
  for (int first = 0; first < layout.pieces() * layout.threads; first += kWarpLanes) {
    for (int j = 0; j < accesses; ++j) {
      const auto access =
          warp_access(vector ? kSwizzleChunkBytes : layout.size, [&](int lane) -> std::int64_t {
            const OperandLayout::Piece piece = layout.piece(first + lane);
            const int x = piece.x + (layout.k_major ? 0 : j);
            const int k = piece.k + (layout.k_major ? j : 0);
            if (x >= x_left || k >= k_left) return WarpAccess::kInactive;
            return offset_bytes + x * operand.x_stride_bytes + k * operand.k_stride_bytes;
          });
      if (vector) {
        const auto to = warp_access(kSwizzleChunkBytes, [&](int lane) {
          return std::int64_t{layout.piece(first + lane).offset};
        });
        sectors += copy_sectors(access, to);
      } else {
        sectors += global_access(access).sectors;
      }
    }
  }
  return sectors;
}

std::int64_t operand_store_wavefronts(const OperandLayout& layout) {
  std::int64_t wavefronts = 0;
  for (int first = 0; first < layout.pieces() * layout.threads; first += kWarpLanes) {
    const auto access = warp_access(kSwizzleChunkBytes, [&](int lane) {
      return std::int64_t{layout.piece(first + lane).offset};
    });
    wavefronts += shared_store(access).wavefronts;
  }
  return wavefronts;
}

std::int64_t operand_async_wavefronts(const OperandLayout& layout, const TensorOperand& operand,
                                      std::int64_t offset_bytes) {
  std::int64_t wavefronts = 0;
  for (int first = 0; first < layout.pieces() * layout.threads; first += kWarpLanes) {
    const auto from = warp_access(kSwizzleChunkBytes, [&](int lane) {
      const OperandLayout::Piece piece = layout.piece(first + lane);
      return offset_bytes + piece.x * operand.x_stride_bytes + piece.k * operand.k_stride_bytes;
    });
    const auto to = warp_access(kSwizzleChunkBytes, [&](int lane) {
      return std::int64_t{layout.piece(first + lane).offset};
    });
    wavefronts += copy_wavefronts(CopyForm::bypass_sized, from, to);
  }
  return wavefronts;
}

bool knows_operand_async_wavefronts(const OperandLayout& layout) {
  return layout.pitch() % kSwizzleLineBytes == 0;
}

std::int64_t operand_read_wavefronts(const OperandLayout& layout, int first, int extent, int step) {
  std::int64_t wavefronts = 0;
  for (int i = 0; i < extent / kFragmentExtent; ++i) {
    if (layout.size == 4 && !layout.k_major) {
      for (int j = 0; j < 4; ++j) {
        add_wavefronts(warp_access(4,
                                   [&](int lane) {
                                     return std::int64_t{layout.element_offset(
                                         first + i * kFragmentExtent, step, lane, j)};
                                   }),
                       wavefronts);
      }
      continue;
    }
    wavefronts += ldmatrix_wavefronts([&](int lane) {
      const int at = layout.lane_offset(first, lane), place = layout.fragment_place(i, step);
      return std::int64_t{(layout.swizzle_bytes == 0 ? at + place : at ^ place) +
                          layout.fragment_step(i, step)};
    });
  }
  return wavefronts;
}

WmmaUnits wmma_units(const TensorOperand& operand, bool k_major, bool direct, int size,
                     std::int64_t offset_bytes, int x_left, int k_left) {
  WmmaUnits units;
  if (direct) {
    const std::int64_t pitch = k_major ? operand.x_stride_bytes : operand.k_stride_bytes;
    for_wmma_loads([&](int line, int byte) { return offset_bytes + line * pitch + byte; },
                   add_sectors, units.sectors);
    return units;
  }
  for (int first = 0; first < kWmmaEdge * kWmmaEdge; first += kWarpLanes) {
    const auto x = [&](int i) { return k_major ? i / kWmmaEdge : i % kWmmaEdge; };
    const auto k = [&](int i) { return k_major ? i % kWmmaEdge : i / kWmmaEdge; };
    add_sectors(warp_access(size,
                            [&](int lane) {
                              const int i = first + lane;
                              if (x(i) >= x_left || k(i) >= k_left) return WarpAccess::kInactive;
                              return offset_bytes + x(i) * operand.x_stride_bytes +
                                     k(i) * operand.k_stride_bytes;
                            }),
                units.sectors);
    add_wavefronts(warp_access(size, [&](int lane) { return std::int64_t{(first + lane) * size}; }),
                   units.write_wavefronts);
  }
  for_wmma_loads([&](int line, int byte) { return std::int64_t{line * kWmmaEdge * size + byte}; },
                 add_wavefronts, units.read_wavefronts);
  return units;
}

std::int64_t wmma_store_wavefronts() {
  std::int64_t wavefronts = 0;
  for (int i = 0; i < 8; i += 2) {  // pairs of neighbours, 8 bytes a lane
    add_wavefronts(warp_access(8,
                               [&](int lane) {
                                 const Coordinate at = mma_c(lane, i % 4);
                                 return std::int64_t{4} *
                                        (at.row * kWmmaEdge + at.column + 8 * (i / 4));
                               }),
                   wavefronts);
  }
  return wavefronts;
}

std::int64_t wmma_row_wavefronts(int m_left, int n_left) {
  std::int64_t wavefronts = 0;
  for (int first = 0; first < kWmmaEdge * kWmmaEdge; first += kWarpLanes) {
    add_wavefronts(warp_access(4,
                               [&](int lane) {
                                 const int i = first + lane;
                                 const bool exists =
                                     i / kWmmaEdge < m_left && i % kWmmaEdge < n_left;
                                 return exists ? std::int64_t{4} * i : WarpAccess::kInactive;
                               }),
                   wavefronts);
  }
  return wavefronts;
}

}  // namespace tilewise
