// Tiles along one dimension, grouped by what their cost depends on: how much of a tile exists, and
// where its first element lies in a 32-byte sector or, for some costs, in a 128-byte line.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "tilewise/count.h"

namespace tilewise {

constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kLineBytes = 128;

struct TileStep {
  std::int64_t offset_bytes = 0;  // in a sector, or in what `within` says
  int left = 0;                   // elements that exist, at most the tile
  Count times;
};

// Tiles of `tile` elements over `extent`, whose elements lie stride_bytes apart.
[[nodiscard]] inline std::vector<TileStep> tile_steps(std::int64_t extent, std::int64_t tile,
                                                      std::int64_t stride_bytes,
                                                      std::int64_t within = kSectorBytes) {
  std::vector<TileStep> steps;
  const std::int64_t full = extent / tile, rest = extent % tile;
  const std::int64_t step = tile % within * (stride_bytes % within) % within;
  const std::int64_t period = step == 0 ? 1 : within / std::gcd(step, within);
  for (std::int64_t i = 0; i < period && i < full; ++i) {
    steps.push_back(
        {i * step % within, static_cast<int>(tile), Count((full - i + period - 1) / period)});
  }
  if (rest > 0) {
    steps.push_back({full % within * step % within, static_cast<int>(rest), Count(1)});
  }
  return steps;
}

// The sum over all tiles along two dimensions of cost(offset_bytes, left of the first, left of the
// second), each distinct one computed once.
template <class Cost>
[[nodiscard]] Count sum_tiles(const std::vector<TileStep>& first,
                              const std::vector<TileStep>& second, Cost cost,
                              std::int64_t within = kSectorBytes) {
  std::map<std::tuple<std::int64_t, int, int>, Count> times;
  for (const TileStep& i : first) {
    for (const TileStep& j : second) {
      times[{(i.offset_bytes + j.offset_bytes) % within, i.left, j.left}] += i.times * j.times;
    }
  }
  Count total;
  for (const auto& [at, count] : times) {
    const auto [offset, left, other_left] = at;
    total += Count(cost(offset, left, other_left)) * count;
  }
  return total;
}

}  // namespace tilewise
