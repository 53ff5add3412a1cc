#include "model/float_tile_units.h"

#include "tilewise/access.h"

namespace tilewise {
namespace {

constexpr int kElementBytes = 4;

// Elements of a piece that exist: kernels/parts/copy.cuh, TileCopy::left.
int left_of_piece(const CopyLayout& layout, KX at, int k_left, int x_left) {
  const int along = layout.along_k() ? k_left - at.k : x_left - at.x;
  const bool inside = layout.along_k() ? at.x < x_left : at.k < k_left;
  return !inside || along < 0 ? 0 : along < layout.width() ? along : layout.width();
}

}  // namespace

std::int64_t tile_copy_sectors(const CopyLayout& layout, const FloatOperand& operand,
                               std::int64_t offset_bytes, int k_left, int x_left,
                               const SharedTile* asynchronous) {
  const auto address = [&](KX at, int j) {
    return offset_bytes + (at.k + (layout.along_k() ? j : 0)) * operand.k_stride_bytes +
           (at.x + (layout.along_k() ? 0 : j)) * operand.x_stride_bytes;
  };
  std::int64_t sectors = 0;
  for (int first = 0; first < layout.pieces(); first += kWarpThreads) {
    const auto piece = [&](int lane) { return layout.at(first + lane); };
    const auto left = [&](int lane) { return left_of_piece(layout, piece(lane), k_left, x_left); };
    if (asynchronous != nullptr && layout.width() > 1) {
      const auto from = warp_access(layout.width() * kElementBytes, [&](int lane) {
        return left(lane) > 0 ? address(piece(lane), 0) : WarpAccess::kInactive;
      });
      const auto to = warp_access(layout.width() * kElementBytes, [&](int lane) {
        const KX at = piece(lane);
        return std::int64_t{kElementBytes} * asynchronous->offset(at.k, at.x);
      });
      sectors += copy_sectors(from, to);
      continue;
    }
    sectors +=
        global_access(warp_access(layout.width() * kElementBytes, [&](int lane) {
          return left(lane) == layout.width() ? address(piece(lane), 0) : WarpAccess::kInactive;
        })).sectors;
    // What exists of a piece that does not exist in full, element by element.
    for (int j = 0; j + 1 < layout.width(); ++j) {
      sectors += global_access(warp_access(kElementBytes, [&](int lane) {
                   return j < left(lane) && left(lane) < layout.width() ? address(piece(lane), j)
                                                                        : WarpAccess::kInactive;
                 })).sectors;
    }
  }
  return sectors;
}

std::int64_t store_wavefronts(const CopyLayout& layout, const SharedTile& tile) {
  const bool transposed = layout.mode == CopyMode::vector_k;
  const int accesses = transposed ? layout.width() : 1;
  const int width = transposed ? 1 : layout.width();
  std::int64_t wavefronts = 0;
  for (int first = 0; first < layout.pieces(); first += kWarpThreads) {
    for (int j = 0; j < accesses; ++j) {
      const auto access = warp_access(width * kElementBytes, [&](int lane) {
        const KX at = layout.at(first + lane);
        return std::int64_t{kElementBytes} * tile.offset(at.k + j, at.x);
      });
      wavefronts += shared_store(access).wavefronts;
    }
  }
  return wavefronts;
}

std::int64_t async_wavefronts(const CopyLayout& layout, const SharedTile& tile,
                              const FloatOperand& operand, std::int64_t offset_bytes, int k_left,
                              int x_left, bool whole) {
  const CopyForm form = layout.width() == 1 ? CopyForm::cached
                        : whole             ? CopyForm::bypass
                                            : CopyForm::bypass_sized;
  std::int64_t wavefronts = 0;
  for (int first = 0; first < layout.pieces(); first += kWarpThreads) {
    const auto from = warp_access(layout.width() * kElementBytes, [&](int lane) {
      const KX at = layout.at(first + lane);
      if (form == CopyForm::cached && left_of_piece(layout, at, k_left, x_left) == 0) {
        return WarpAccess::kInactive;
      }
      return offset_bytes + at.k * operand.k_stride_bytes + at.x * operand.x_stride_bytes;
    });
    const auto to = warp_access(layout.width() * kElementBytes, [&](int lane) {
      const KX at = layout.at(first + lane);
      return std::int64_t{kElementBytes} * tile.offset(at.k, at.x);
    });
    wavefronts += copy_wavefronts(form, from, to);
  }
  return wavefronts;
}

bool knows_async_wavefronts(const CopyLayout& layout, const SharedTile& tile, bool fills_zeros) {
  return layout.width() == 1 || !fills_zeros || tile.row_bytes() % kSwizzleLineBytes == 0;
}

std::int64_t fragment_wavefronts(const SharedTile& tile, const FragmentLayout& layout,
                                 const int (&first)[kWarpThreads]) {
  std::int64_t wavefronts = 0;
  for (int k = 0; k < tile.k; ++k) {
    for (int i = 0; i < layout.count; i += layout.width) {
      const int step = thread_element(layout.span, layout.count, layout.repeat, 0, i);
      const auto access = warp_access(layout.width * kElementBytes, [&](int lane) {
        return std::int64_t{kElementBytes} * tile.offset(k, first[lane] + step);
      });
      wavefronts += shared_access(access).wavefronts;
    }
  }
  return wavefronts;
}

}  // namespace tilewise
