#include "report/sample_positions.h"

#include <algorithm>

#include "report/normal_values.h"

namespace tilewise {
namespace {

// A source of random offsets that depends on what it is for and nothing else.
class Offsets {
 public:
  explicit Offsets(std::uint64_t key) : key_(key) {}
  std::int64_t below(std::int64_t limit) {
    key_ = mixed_bits(key_);
    return static_cast<std::int64_t>(key_ % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t key_;
};

// First multiple of `tile` that is at least x.
std::int64_t next_multiple(std::int64_t x, std::int64_t tile) {
  return (x + tile - 1) / tile * tile;
}

}  // namespace

std::vector<Position> sample_positions(const SampleGrid& grid, std::int64_t batch,
                                       std::int64_t first_column) {
  const std::int64_t column_end = std::min(first_column + kPatch, grid.n);
  const std::int64_t width = column_end - first_column;
  const auto mix = [](std::uint64_t key, std::int64_t x) {
    return mixed_bits(key ^ static_cast<std::uint64_t>(x));
  };
  Offsets offsets(mix(mix(grid.seed, batch), first_column));
  std::vector<Position> positions;
  const auto add = [&](std::int64_t m, std::int64_t n) { positions.push_back({m, n}); };

  for (std::int64_t row = 0; row < grid.m; row += kPatch) {
    const std::int64_t height = std::min(kPatch, grid.m - row);
    add(row + offsets.below(height), first_column + offsets.below(width));
    if (grid.tile_n == 0) continue;
    // A seam stands between columns seam - 1 and seam; one side may lie in this strip alone.
    for (std::int64_t seam = next_multiple(std::max<std::int64_t>(first_column, 1), grid.tile_n);
         seam <= column_end && seam < grid.n; seam += grid.tile_n) {
      if (seam > first_column) add(row + offsets.below(height), seam - 1);
      if (seam < column_end) add(row + offsets.below(height), seam);
    }
  }
  for (std::int64_t seam = grid.tile_m; seam > 0 && seam < grid.m; seam += grid.tile_m) {
    add(seam - 1, first_column + offsets.below(width));
    add(seam, first_column + offsets.below(width));
  }
  for (const std::int64_t corner : {std::int64_t{0}, grid.n - 1}) {
    if (corner < first_column || corner >= column_end) continue;
    add(0, corner);
    add(grid.m - 1, corner);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

std::vector<Position> all_positions(const SampleGrid& grid, std::int64_t first_column,
                                    std::int64_t first_row, std::int64_t row_end) {
  const std::int64_t column_end = std::min(first_column + kPatch, grid.n);
  std::vector<Position> positions;
  for (std::int64_t m = first_row; m < row_end; ++m) {
    for (std::int64_t n = first_column; n < column_end; ++n) positions.push_back({m, n});
  }
  return positions;
}

}  // namespace tilewise
