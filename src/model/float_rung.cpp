#include "model/float_rung.h"

#include <algorithm>

namespace tilewise {
namespace {

constexpr int kWideBytes = 16;

MN extents(const Schedule& s, Level level) {
  const Tile* tile = find_tile(s, level);
  if (tile == nullptr) return {0, 0};
  return {static_cast<int>(tile->m), static_cast<int>(tile->n)};
}

}  // namespace

bool is_float_rung(const Schedule& schedule) {
  for (const char* name : {"shared_tile", "column_tile", "square_tile", "vector_loads",
                           "conflict_free", "double_buffer", "warp_tile", "tuned_f32"}) {
    if (schedule.kernel == name) return true;
  }
  return false;
}

FloatRung::FloatRung(const Schedule& s)
    : block_(extents(s, Level::block)), warp_(extents(s, Level::warp)) {
  const Tile* block = find_tile(s, Level::block);
  if (block == nullptr) return;
  if (const Tile* thread = find_tile(s, Level::thread)) {
    thread_ = {std::max(1, static_cast<int>(thread->m)), std::max(1, static_cast<int>(thread->n))};
    repeat_ = {static_cast<int>(thread->repeat_m), static_cast<int>(thread->repeat_n)};
  }
  threads = block_.m / thread_.m * (block_.n / thread_.n);
  by_columns = thread_.n == 1;
  const SharedLayout& layout = s.shared_layout;
  const int pad = layout.kind == SharedLayout::Kind::pad ? layout.amount : 0;
  const int swizzle = layout.kind == SharedLayout::Kind::swizzle ? layout.amount : 0;
  const int k = static_cast<int>(block->k);
  tile_a = {k, block_.m, pad, swizzle, by_columns};
  tile_b = {k, block_.n, pad, swizzle};
  const auto width = [](int bytes) { return bytes == kWideBytes ? kChunkElements : 1; };
  const MN outer = warp_.m > 0 ? warp_ : block_;
  fragment_a = {outer.m, thread_.m, repeat_.m, width(s.vector_bytes.shared_a)};
  fragment_b = {outer.n, thread_.n, repeat_.n, width(s.vector_bytes.shared_b)};
  const bool scalar =
      s.kernel == "shared_tile" || s.kernel == "column_tile" || s.kernel == "square_tile";
  may_merge = scalar && s.vector_bytes.shared_a > 4;
}

MN FloatRung::first(int thread) const {
  if (warp_.m == 0) {
    const int across = block_.n / thread_.n;
    return {thread_element(block_.m, thread_.m, repeat_.m, thread / across, 0),
            thread_element(block_.n, thread_.n, repeat_.n, thread % across, 0)};
  }
  const int across = block_.n / warp_.n, warp = thread / kWarpThreads;
  const MN lane = lane_position(thread % kWarpThreads, warp_.m / thread_.m, warp_.n / thread_.n);
  return {warp / across * warp_.m + thread_element(warp_.m, thread_.m, repeat_.m, lane.m, 0),
          warp % across * warp_.n + thread_element(warp_.n, thread_.n, repeat_.n, lane.n, 0)};
}

}  // namespace tilewise
