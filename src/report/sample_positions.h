// Which elements of a result a verification looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewise/problem.h"

namespace tilewise {

inline constexpr std::int64_t kPatch = 32;  // edge of a patch of the output, elements

struct Position {
  std::int64_t m = 0, n = 0;
  auto operator<=>(const Position&) const = default;
};

struct SampleGrid {
  std::int64_t m = 0, n = 0;            // of the output
  std::int64_t tile_m = 0, tile_n = 0;  // the outermost tile; 0: no seams along that dimension
  std::uint64_t seed = 0;
};

// The columns [first, first + kPatch) of the output, clipped, hold these samples, sorted by row,
// each once:
//   one random element of every kPatch x kPatch patch,
//   the corners of the output,
//   one random element each side of every seam of the outermost tile in each patch it crosses.
[[nodiscard]] std::vector<Position> sample_positions(const SampleGrid& grid, std::int64_t batch,
                                                     std::int64_t first_column);

// Every element of those columns.
[[nodiscard]] std::vector<Position> all_positions(const SampleGrid& grid, std::int64_t first_column,
                                                  std::int64_t first_row, std::int64_t row_end);

}  // namespace tilewise
