// The one counting formula (docs/counting.md):
//     reads(level) = M K tiles(N; n of this level and of all outside it) + K N tiles(M; m ...)
#include <algorithm>
#include <limits>
#include <string>

#include "epilogue/cost.h"
#include "tilewise/traffic.h"

namespace tilewise {
namespace {

// One dimension's tiling, outermost first, from which levels that do not tile it are left out.
struct Nest {
  std::vector<std::int64_t> extents;
  std::int64_t repeat = 1;          // of the innermost
  std::int64_t nominal_parent = 0;  // width of the tile around the innermost, unclipped
};

Count count_innermost(const Nest& nest, std::int64_t width) {
  const std::int64_t tile = nest.extents.back();
  if (nest.repeat == 1) return ceil_div(width, tile);
  // A thread exists if its first piece holds an in-bounds element (schedule.h, Tile).
  const Count threads = ceil_div(nest.nominal_parent, tile);
  const Count started = ceil_div(width, tile / nest.repeat);
  return threads < started ? threads : started;
}

// Innermost tiles inside a tile of this width whose parts begin at nest.extents[level]. A width
// splits into equal full tiles and at most one clipped one, so two counts decide each level.
Count count_inside(const Nest& nest, std::size_t level, std::int64_t width) {
  if (level >= nest.extents.size()) return 1;
  if (level + 1 == nest.extents.size()) return count_innermost(nest, width);
  const std::int64_t extent = nest.extents[level];
  const std::int64_t full = width / extent, rest = width % extent;
  Count count;
  if (full > 0) count += Count(full) * count_inside(nest, level + 1, extent);
  if (rest > 0) count += count_inside(nest, level + 1, rest);
  return count;
}

struct Dimension {
  std::int64_t size;
  std::vector<std::int64_t> tiles;  // of every level of the schedule, 0 where not tiled
  std::int64_t repeat;              // of the innermost level

  // Number of tiles of level `index` along this dimension.
  [[nodiscard]] Count tiles_of(std::size_t index) const {
    const std::span<const std::int64_t> outer(tiles.data(), index + 1);
    return num_tiles(size, outer, index + 1 == tiles.size() ? repeat : 1);
  }
};

// The rows and columns of the tiles as they lie on the problem: transposed when operands are
// swapped.
struct Dimensions {
  Dimension m, n;
};

Dimensions dimensions_of(const Problem& p, const Schedule& s) {
  Dimensions d{{p.m, {}, 1}, {p.n, {}, 1}};
  for (const Tile& tile : s.tiles) {
    d.m.tiles.push_back(s.swap_ab ? tile.n : tile.m);
    d.n.tiles.push_back(s.swap_ab ? tile.m : tile.n);
    d.m.repeat = s.swap_ab ? tile.repeat_n : tile.repeat_m;
    d.n.repeat = s.swap_ab ? tile.repeat_m : tile.repeat_n;
  }
  return d;
}

double ratio(Count x, Count y) { return y == Count(0) ? 0.0 : x.to_double() / y.to_double(); }

LevelCount count_level(const Problem& p, const Schedule& s, const Dimensions& d, std::size_t i) {
  LevelCount c;
  const Tile& tile = s.tiles[i];
  c.level = tile.level;
  c.m = tile.m;
  c.n = tile.n;
  c.k = tile.k;
  c.tiles_m = d.m.tiles_of(i);
  c.tiles_n = d.n.tiles_of(i);
  c.reads_a = Count(p.m) * p.k * c.tiles_n * p.batch;
  c.reads_b = Count(p.k) * p.n * c.tiles_m * p.batch;
  c.reads = c.reads_a + c.reads_b;
  const Count multiply_adds = Count(p.m) * p.n * p.k * p.batch;
  c.reuse_a = ratio(multiply_adds, c.reads_a);
  c.reuse_b = ratio(multiply_adds, c.reads_b);
  c.intensity = ratio(Count(2) * multiply_adds,
                      c.reads_a * size_bytes(p.type_a) + c.reads_b * size_bytes(p.type_b));
  return c;
}

// Distinct elements; a matrix shared by the whole batch is read once.
Count minimum_reads(const Problem& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return 0;
  return Count(p.m) * p.k * (p.a.batch == 0 ? 1 : p.batch) +
         Count(p.k) * p.n * (p.b.batch == 0 ? 1 : p.batch);
}

bool fits(const CountReport& report) {
  const auto bad = [](Count c) { return c.overflowed(); };
  return !bad(report.naive) && !bad(report.tiled) && !bad(report.minimum) && !bad(report.blocks) &&
         std::none_of(report.levels.begin(), report.levels.end(),
                      [&](const LevelCount& level) { return bad(level.reads); });
}

Error too_large(const Problem& p) {
  return Error{ErrorCode::bad_request,
               "count: " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " +
                   std::to_string(p.k) + " in a batch of " + std::to_string(p.batch) +
                   " gives counts beyond 2^127 - 1; make the problem smaller"};
}

// Counting needs sizes alone: strides are the business of those who run the product.
Result<void> check_sizes(const Problem& p) {
  const std::pair<std::string_view, std::int64_t> sizes[] = {
      {"m", p.m}, {"n", p.n}, {"k", p.k}, {"batch", p.batch}};
  for (const auto& [name, value] : sizes) {
    if (value < 0) {
      return bad_request("count: " + std::string(name) + " is " + std::to_string(value) +
                         "; it must be 0 or more");
    }
  }
  return {};
}

void add(Traffic& traffic, std::string level, Operand operand, Direction direction, Count value) {
  traffic.rows.push_back(
      {std::move(level), operand, direction, Quantity::elements, "elements", value});
}

// What the epilogue and the store move at the outermost level, each element once.
void add_epilogue(Traffic& traffic, const Problem& p, const std::string& level) {
  const Count outputs = Count(p.m) * p.n * p.batch;
  if (outputs == Count(0)) return;
  EpilogueShape shape;
  shape.m = p.m;
  shape.n = p.n;
  shape.batch = p.batch;
  shape.c_is_shared = p.c.batch == 0;
  const EpilogueCost cost = epilogue_cost(p.epilogue, shape);
  if (p.epilogue.reads_c()) add(traffic, level, Operand::c, Direction::read, cost.c.elements);
  Count operands;
  for (const OperandCost& operand : cost.operands) operands += operand.elements;
  if (p.epilogue.num_operands > 0)
    add(traffic, level, Operand::epilogue, Direction::read, operands);
  add(traffic, level, Operand::d, Direction::write, outputs);
}

// Partial sums of a split K, written once by each of the ways and read back by a second pass. Ways
// beyond the number of phases have no work and write nothing.
void add_split_k(Traffic& traffic, const Problem& p, const Schedule& s, std::int64_t phases,
                 const std::string& level) {
  const std::int64_t ways = std::min<std::int64_t>(s.split_k.ways, phases);
  if (ways <= 1) return;
  const Count partial_sums = Count(p.m) * p.n * p.batch * ways;
  add(traffic, level, Operand::workspace, Direction::write, partial_sums);
  add(traffic, level, Operand::workspace, Direction::read,
      s.split_k.reduce == SplitK::Reduce::second_pass ? partial_sums : Count(p.m) * p.n * p.batch);
}

}  // namespace

Count num_tiles(std::int64_t x, std::span<const std::int64_t> tiles, std::int64_t repeat) {
  if (x <= 0) return 0;
  Nest nest;
  nest.repeat = repeat;
  nest.nominal_parent = x;
  for (const std::int64_t extent : tiles) {
    if (extent == 0) continue;
    if (!nest.extents.empty()) nest.nominal_parent = nest.extents.back();
    nest.extents.push_back(extent);
  }
  return count_inside(nest, 0, x);
}

Result<CountReport> count_levels(const Problem& p, const Schedule& s) {
  if (auto ok = check_sizes(p); !ok) return std::unexpected(ok.error());
  if (auto ok = validate(s); !ok) return std::unexpected(ok.error());
  CountReport report;
  report.flops = report.naive = Count(2) * p.m * p.n * p.k * p.batch;
  report.minimum = minimum_reads(p);
  const Dimensions dimensions = dimensions_of(p, s);
  for (std::size_t i = 0; i < s.tiles.size(); ++i) {
    report.levels.push_back(count_level(p, s, dimensions, i));
  }
  if (s.tiles.empty()) {
    report.tiled = report.naive;
    report.blocks = Count(p.m) * p.n * p.batch;
    report.phases = p.k;
  } else {
    const Tile& outer = s.tiles.front();
    report.tiled = report.levels.front().reads;
    report.blocks = report.levels.front().tiles_m * report.levels.front().tiles_n * p.batch;
    report.phases = p.k == 0 ? 0 : outer.k == 0 ? 1 : (p.k - 1) / outer.k + 1;
  }
  if (report.blocks == Count(0)) report.phases = 0;  // there is no output tile to walk along K for
  if (!fits(report)) return std::unexpected(too_large(p));
  return report;
}

Result<Traffic> count(const Problem& p, const Schedule& s) {
  auto report = count_levels(p, s);
  if (!report) return std::unexpected(report.error());
  Traffic traffic;
  for (const LevelCount& level : report->levels) {
    const std::string name(to_string(level.level));
    add(traffic, name, Operand::a, Direction::read, level.reads_a);
    add(traffic, name, Operand::b, Direction::read, level.reads_b);
  }
  const std::string outer =
      s.tiles.empty() ? "global" : std::string(to_string(s.tiles.front().level));
  if (s.tiles.empty()) {
    add(traffic, outer, Operand::a, Direction::read, Count(p.m) * p.n * p.k * p.batch);
    add(traffic, outer, Operand::b, Direction::read, Count(p.m) * p.n * p.k * p.batch);
  }
  add_split_k(traffic, p, s, report->phases, outer);
  add_epilogue(traffic, p, outer);
  for (const TrafficRow& row : traffic.rows) {
    if (row.value.overflowed()) return std::unexpected(too_large(p));
  }
  return traffic;
}

Result<MatmulTraffic> matmul_traffic(std::int64_t m, std::int64_t n, std::int64_t k,
                                     std::int64_t b) {
  if (b < 1) {
    return bad_request("matmul_traffic: b is " + std::to_string(b) +
                       "; a tile has an edge of 1 or more");
  }
  Schedule schedule;
  schedule.tiles.push_back({Level::block, b, b, b, 1, 1});
  auto report = count_levels(make_problem(m, n, k), schedule);
  if (!report) return std::unexpected(report.error());
  return MatmulTraffic{report->naive, report->tiled, report->minimum};
}

}  // namespace tilewise
