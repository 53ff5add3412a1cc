#include "tilewise/block_order.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/check_sizes.h"
#include "parts/order.cuh"

namespace tilewise {
namespace {

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

// Bytes of the panels by the wave that used them last, as a Fenwick tree: the distinct bytes used
// in waves u..now are the sum over last uses of u and later.
class LastUses {
 public:
  explicit LastUses(std::int64_t waves) : sums_(static_cast<std::size_t>(waves) + 1, 0) {}

  void add(std::int64_t wave, double bytes) {
    total_ += bytes;
    for (auto i = static_cast<std::size_t>(wave) + 1; i < sums_.size(); i += i & (~i + 1)) {
      sums_[i] += bytes;
    }
  }
  // Bytes last used in wave u or later.
  [[nodiscard]] double since(std::int64_t u) const {
    double before = 0;
    for (auto i = static_cast<std::size_t>(u); i > 0; i -= i & (~i + 1)) before += sums_[i];
    return total_ - before;
  }

 private:
  std::vector<double> sums_;
  double total_ = 0;
};

// One panel: a row of tiles of A or a column of tiles of B.
struct Panel {
  double bytes = 0;
  std::int64_t last_wave = -1;
  std::int64_t seen_wave = -1;  // listed for this wave already
  double distance_before = 0;   // F(u..w-1)
};

// Share of t in [0, 1] where the line from d0 to d1 is at most the capacity.
double hit_share(double d0, double d1, double capacity) {
  if (std::max(d0, d1) <= capacity) return 1;
  if (std::min(d0, d1) > capacity) return 0;
  const double crossing = (capacity - d0) / (d1 - d0);
  return d0 <= capacity ? crossing : 1 - crossing;
}

// Tiles of the launch: those of one product (or of one part of its K), and how many such slices.
struct TileGrid {
  std::int64_t tile_m = 0, tile_n = 0;    // outputs, a whole cluster's
  std::int64_t tiles_m = 0, tiles_n = 0;  // of a slice
  std::int64_t batch = 1, ways = 1;       // slice = product * ways + part of K
  std::int64_t slots = 0;

  [[nodiscard]] std::int64_t slice_tiles() const { return tiles_m * tiles_n; }
  [[nodiscard]] std::int64_t tiles() const { return slice_tiles() * batch * ways; }
};

class LruForm {
 public:
  LruForm(const BlockGrid& grid, const TileGrid& tiles, double capacity)
      : grid_(grid),
        tiles_(tiles),
        capacity_(capacity),
        slices_a_((grid.shared_a ? 1 : tiles.batch) * tiles.ways),
        slices_b_((grid.shared_b ? 1 : tiles.batch) * tiles.ways),
        panels_(static_cast<std::size_t>(slices_a_ * tiles.tiles_m + slices_b_ * tiles.tiles_n)),
        uses_(divide_up(tiles.tiles(), tiles.slots)) {
    const double k = static_cast<double>(grid.k) / static_cast<double>(tiles.ways);
    for (std::int64_t i = 0; i < slices_a_ * tiles.tiles_m; ++i) {
      const std::int64_t first = i % tiles.tiles_m * tiles.tile_m;
      panel(i).bytes =
          k * grid.bytes_a * static_cast<double>(std::min(tiles.tile_m, grid.m - first));
    }
    for (std::int64_t j = 0; j < slices_b_ * tiles.tiles_n; ++j) {
      const std::int64_t first = j % tiles.tiles_n * tiles.tile_n;
      panel(first_b() + j).bytes =
          k * grid.bytes_b * static_cast<double>(std::min(tiles.tile_n, grid.n - first));
    }
  }

  // by_wave: null, or where the reads of each wave are kept.
  void run(BlockTraffic& result, std::vector<double>* by_wave = nullptr) {
    const std::int64_t tiles = tiles_.tiles();
    for (std::int64_t wave = 0; wave * tiles_.slots < tiles; ++wave) {
      used_.clear();
      const std::int64_t end = std::min(tiles, (wave + 1) * tiles_.slots);
      for (std::int64_t tile = wave * tiles_.slots; tile < end; ++tile) {
        const std::int64_t slice = tile / tiles_.slice_tiles();
        const TilePosition at = block_tile(
            static_cast<int>(grid_.order.kind), grid_.order.group,
            static_cast<int>(grid_.order.axis), static_cast<int>(tiles_.tiles_m),
            static_cast<int>(tiles_.tiles_n), static_cast<int>(tile % tiles_.slice_tiles()));
        note(slice_of(slice, grid_.shared_a) * tiles_.tiles_m + at.m, wave);
        note(first_b() + slice_of(slice, grid_.shared_b) * tiles_.tiles_n + at.n, wave);
      }
      const double before = result.dram;
      account(wave, result);
      if (by_wave != nullptr) by_wave->push_back(result.dram - before);
    }
  }

 private:
  Panel& panel(std::int64_t index) { return panels_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::int64_t first_b() const { return slices_a_ * tiles_.tiles_m; }
  // A matrix that the batch shares has the slices of one product.
  [[nodiscard]] std::int64_t slice_of(std::int64_t slice, bool shared) const {
    return shared ? slice % tiles_.ways : slice;
  }

  void note(std::int64_t index, std::int64_t wave) {
    if (panel(index).seen_wave == wave) return;
    panel(index).seen_wave = wave;
    used_.push_back(index);
  }

  void account(std::int64_t wave, BlockTraffic& result) {
    for (const std::int64_t index : used_) {
      Panel& p = panel(index);
      if (p.last_wave >= 0) p.distance_before = uses_.since(p.last_wave);
    }
    for (const std::int64_t index : used_) {
      const Panel& p = panel(index);
      if (p.last_wave >= 0) uses_.add(p.last_wave, -p.bytes);
      uses_.add(wave, p.bytes);
    }
    for (const std::int64_t index : used_) {
      Panel& p = panel(index);
      const double hit =
          p.last_wave < 0 ? 0
                          : hit_share(p.distance_before, uses_.since(p.last_wave + 1), capacity_);
      result.dram += (1 - hit) * p.bytes;
      result.wave_only += p.bytes;
      p.last_wave = wave;
    }
  }

  const BlockGrid& grid_;
  const TileGrid& tiles_;
  double capacity_;
  std::int64_t slices_a_, slices_b_;
  std::vector<Panel> panels_;  // rows of A, then columns of B
  LastUses uses_;
  std::vector<std::int64_t> used_;
};

// Bytes of one wave for a grid too large to walk: a wave covers about group x (slots / group)
// tiles.
double wave_estimate(const BlockGrid& grid, const TileGrid& tiles) {
  const auto slots = static_cast<double>(tiles.slots);
  double along = 1;  // tiles along m
  switch (grid.order.kind) {
    case Order::Kind::row:
      along = 1;
      break;
    case Order::Kind::column:
      along = slots;
      break;
    case Order::Kind::hilbert:
      along = std::sqrt(slots);
      break;
    case Order::Kind::grouped:
    case Order::Kind::serpentine:
      along = grid.order.axis == Order::Axis::m ? grid.order.group : slots / grid.order.group;
      break;
  }
  along = std::clamp(along, 1.0, std::min(slots, static_cast<double>(tiles.tiles_m)));
  const double across = std::clamp(slots / along, 1.0, static_cast<double>(tiles.tiles_n));
  return static_cast<double>(grid.k) / static_cast<double>(tiles.ways) *
         (along * static_cast<double>(tiles.tile_m) * grid.bytes_a +
          across * static_cast<double>(tiles.tile_n) * grid.bytes_b);
}

Result<void> check(const BlockGrid& g) {
  if (auto ok = check_sizes("block order", g.m, g.n, g.k); !ok) return ok;
  if (g.batch < 0 || g.split_ways < 1) {
    return bad_request("block order: batch is " + std::to_string(g.batch) + " and split_ways is " +
                       std::to_string(g.split_ways) + "; they are at least 0 and 1");
  }
  if (g.block_m < 1 || g.block_n < 1 || g.slots < 1 || g.cluster.m < 1 || g.cluster.n < 1) {
    return bad_request("block order: block is " + std::to_string(g.block_m) + " x " +
                       std::to_string(g.block_n) + ", slots " + std::to_string(g.slots) +
                       ", cluster " + std::to_string(g.cluster.m) + " x " +
                       std::to_string(g.cluster.n) + "; each is 1 or more");
  }
  return {};
}

}  // namespace

double best_group(std::int64_t slots, std::int64_t block_m, std::int64_t block_n) {
  return std::sqrt(static_cast<double>(slots) * static_cast<double>(block_n) /
                   static_cast<double>(block_m));
}

namespace {

Result<BlockTraffic> traffic_of(const BlockGrid& g, double capacity_bytes, bool walk,
                                std::vector<double>* by_wave) {
  if (auto ok = check(g); !ok) return std::unexpected(ok.error());
  BlockTraffic result;
  if (g.m == 0 || g.n == 0 || g.k == 0 || g.batch == 0) return result;
  const Count m(g.m), n(g.n), k(g.k), sa(g.bytes_a), sb(g.bytes_b), batch(g.batch);
  result.minimum =
      m * k * sa * (g.shared_a ? Count(1) : batch) + k * n * sb * (g.shared_b ? Count(1) : batch);
  const Count blocks_m = ceil_div(m, g.block_m), blocks_n = ceil_div(n, g.block_n);
  result.delivered = (m * k * sa * blocks_n + k * n * sb * blocks_m) * batch;
  // A is shared by the blocks of a cluster along n, B along m.
  const Count asks_a = g.multicast ? ceil_div(blocks_n, g.cluster.n) : blocks_n;
  const Count asks_b = g.multicast ? ceil_div(blocks_m, g.cluster.m) : blocks_m;
  result.lookups = (m * k * sa * asks_a + k * n * sb * asks_b) * batch;
  if (result.delivered.overflowed()) return bad_request("block order: bytes exceed 2^127 - 1");

  const Count tile_rows = Count(g.block_m) * Count(g.cluster.m),
              tile_columns = Count(g.block_n) * Count(g.cluster.n);
  const Count slice = ceil_div(m, tile_rows) * ceil_div(n, tile_columns);
  const Count slices = batch * Count(g.split_ways);
  TileGrid grid;
  grid.tile_m = static_cast<std::int64_t>(std::min(tile_rows.raw(), m.raw()));
  grid.tile_n = static_cast<std::int64_t>(std::min(tile_columns.raw(), n.raw()));
  grid.tiles_m = divide_up(g.m, grid.tile_m), grid.tiles_n = divide_up(g.n, grid.tile_n);
  grid.batch = g.batch, grid.ways = g.split_ways;
  grid.slots = std::max<std::int64_t>(1, g.slots / (g.cluster.m * g.cluster.n));
  const Count waves = ceil_div(slice * slices, grid.slots);
  result.waves = waves <= Count(INT64_MAX) ? static_cast<std::int64_t>(waves.raw()) : INT64_MAX;
  if (!walk) {
    result.exact = false;
    result.dram = result.wave_only = result.minimum.to_double();
  } else if (slice * slices <= Count(kExactTiles)) {
    LruForm(g, grid, capacity_bytes).run(result, by_wave);
  } else if (slice <= Count(kExactTiles)) {
    BlockGrid one = g;
    one.batch = one.split_ways = 1;
    const double share = slices.to_double() / static_cast<double>(g.split_ways);
    grid.batch = grid.ways = 1;
    LruForm(one, grid, capacity_bytes).run(result);
    result.exact = false;
    result.dram *= share, result.wave_only *= share;
  } else {
    result.exact = false;
    result.wave_only = waves.to_double() * wave_estimate(g, grid);
    const double compulsory = result.minimum.to_double();
    result.wave_only = std::clamp(result.wave_only, compulsory, result.delivered.to_double());
    result.dram = compulsory <= capacity_bytes ? compulsory : result.wave_only;
  }
  return result;
}

}  // namespace

Result<BlockTraffic> block_traffic(const BlockGrid& grid, double capacity_bytes, bool walk) {
  return traffic_of(grid, capacity_bytes, walk, nullptr);
}

Result<std::vector<double>> dram_by_wave(const BlockGrid& grid, double capacity_bytes) {
  std::vector<double> waves;
  const auto traffic = traffic_of(grid, capacity_bytes, true, &waves);
  if (!traffic) return std::unexpected(traffic.error());
  if (!traffic->exact) {
    return bad_request("block order: the grid has more than 2^18 tiles, too many wave by wave");
  }
  return waves;
}

}  // namespace tilewise
