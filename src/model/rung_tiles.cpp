#include "model/rung_tiles.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/float_rung.h"
#include "schedule/honours.h"

namespace tilewise {
namespace {

// The levels by whose extents the rung's address functions divide.
std::vector<Level> loop_levels(const Schedule& s) {
  const std::string& kernel = s.kernel;
  if (kernel == "shared_tile") return {Level::block};  // a thread has one output
  if (kernel == "warp_tile" || kernel == "tuned_f32") {
    return {Level::block, Level::warp, Level::thread};
  }
  if (is_float_rung(s)) return {Level::block, Level::thread};
  if (kernel == "mma") return {Level::block, Level::warp, Level::instruction};
  if (kernel.starts_with("wgmma")) return {Level::block, Level::instruction};
  return {};
}

}  // namespace

Result<void> check_rung_tiles(const Schedule& s) {
  constexpr std::int64_t kLargestExtent = 1024;  // two bytes of it by 128 already fill an SM
  const std::vector<Level> levels = loop_levels(s);
  if (levels.empty()) return {};
  if (auto ok = check_has_tiles(s, levels); !ok) return ok;
  for (const Tile& tile : s.tiles) {
    const std::int64_t largest = std::max({tile.m, tile.n, tile.k});
    if (largest <= kLargestExtent) continue;
    return bad_request("schedule: " + std::string(to_string(tile.level)) +
                       " tile has an extent of " + std::to_string(largest) +
                       ", and no kernel has more than " + std::to_string(kLargestExtent) +
                       "; make it smaller");
  }
  return check_whole_tiles(s);
}

}  // namespace tilewise
