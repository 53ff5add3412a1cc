// Traffic: how much moves between which levels, counted exactly and in closed form.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/count.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

enum class Operand : std::uint8_t { a, b, c, d, epilogue, workspace };
enum class Direction : std::uint8_t { read, write };

// elements: in-bounds element reads and writes. issued: what a kernel executes, zero-filled and
// predicated lanes included. units: sectors, wavefronts, bulk-copy bytes. bytes: at L2 and DRAM.
enum class Quantity : std::uint8_t { elements, issued, units, bytes };

[[nodiscard]] std::string_view to_string(Operand operand);
[[nodiscard]] std::string_view to_string(Direction direction);
[[nodiscard]] std::string_view to_string(Quantity quantity);

struct TrafficRow {
  std::string
      level;  // of the tiling ("block", "thread", ...), or a memory ("l2", "dram", "shared")
  Operand operand = Operand::a;
  Direction direction = Direction::read;
  Quantity quantity = Quantity::elements;
  std::string unit;  // "elements", "bytes", "sectors", "wavefronts", "ffma", "mma", ...
  Count value;
  bool operator==(const TrafficRow&) const = default;
};

struct Traffic {
  std::vector<TrafficRow> rows;
  std::vector<std::string> not_counted;  // rows that are missing, and why

  // Sum over the matching rows.
  [[nodiscard]] Count reads(std::string_view level) const;  // elements of A and B
  [[nodiscard]] Count value(std::string_view level, Operand operand, Direction direction,
                            Quantity quantity) const;
  bool operator==(const Traffic&) const = default;
};

// Number of innermost tiles along a dimension of length x, every level clipped at the edge of the
// one outside it. tiles[i] is the extent at level i (0: not tiled). repeat: pieces of the innermost
// tile.
//   tiles(X; b)    = ceil(X / b)
//   tiles(X; b, t) = sum over the block widths w of ceil(w / t)
[[nodiscard]] Count num_tiles(std::int64_t x, std::span<const std::int64_t> tiles,
                              std::int64_t repeat = 1);

// The reads that enter one level, and what follows from them.
struct LevelCount {
  Level level = Level::block;
  std::int64_t m = 0, n = 0, k = 0;  // the tile as written in the schedule
  Count tiles_m, tiles_n;            // how many along each dimension
  Count reads_a;                     // m k tiles_n      elements
  Count reads_b;                     // k n tiles_m      elements
  Count reads;                       // their sum
  double reuse_a = 0;                // m n k / reads_a: multiply-adds an element read
  double reuse_b = 0;
  double intensity = 0;  // FLOP a byte at this level: 2 m n k / (bytes read)
};

struct CountReport {
  Count naive;              // 2 m n k
  Count tiled;              // reads of the outermost level
  Count minimum;            // m k + k n; 0 where m, n or k is 0
  Count flops;              // 2 m n k
  std::int64_t phases = 0;  // ceil(k / outermost tile's k), of one output tile; 0 without one
  Count blocks;             // outermost tiles of the output
  std::vector<LevelCount> levels;
};

// Exact counts of elements for each level of the schedule, batch matrices included. Where m, n or k
// is 0 every read count is 0. Errors: an invalid problem or schedule; a count beyond 2^127 - 1.
// Cost: O(levels^2), independent of the sizes. Source: docs/counting.md.
[[nodiscard]] Result<CountReport> count_levels(const Problem& problem, const Schedule& schedule);

// The same as a Traffic: rows (level, a|b, read, elements), and (outermost level, d, write).
// An epilogue adds the reads of c and of its operands at the outermost level.
[[nodiscard]] Result<Traffic> count(const Problem& problem, const Schedule& schedule);

// A exercise of the textbook: reads of a square tiling of edge b. tiled = MK ceil(N/b) + KN
// ceil(M/b).
struct MatmulTraffic {
  Count naive, tiled, minimum;
};
[[nodiscard]] Result<MatmulTraffic> matmul_traffic(std::int64_t m, std::int64_t n, std::int64_t k,
                                                   std::int64_t b);

}  // namespace tilewise
