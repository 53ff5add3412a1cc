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

class LruForm {
 public:
  LruForm(const BlockGrid& grid, std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t tile_m,
          std::int64_t tile_n, std::int64_t slots, double capacity)
      : grid_(grid),
        tiles_m_(tiles_m),
        tiles_n_(tiles_n),
        slots_(slots),
        capacity_(capacity),
        panels_(static_cast<std::size_t>(tiles_m + tiles_n)),
        uses_(divide_up(tiles_m * tiles_n, slots)) {
    const auto k = static_cast<double>(grid.k);
    for (std::int64_t i = 0; i < tiles_m; ++i) {
      panel(i).bytes =
          k * grid.bytes_a * static_cast<double>(std::min(tile_m, grid.m - i * tile_m));
    }
    for (std::int64_t j = 0; j < tiles_n; ++j) {
      panel(tiles_m + j).bytes =
          k * grid.bytes_b * static_cast<double>(std::min(tile_n, grid.n - j * tile_n));
    }
  }

  // by_wave: null, or where the reads of each wave are kept.
  void run(BlockTraffic& result, std::vector<double>* by_wave = nullptr) {
    const std::int64_t tiles = tiles_m_ * tiles_n_;
    for (std::int64_t wave = 0; wave * slots_ < tiles; ++wave) {
      used_.clear();
      const std::int64_t end = std::min(tiles, (wave + 1) * slots_);
      for (std::int64_t tile = wave * slots_; tile < end; ++tile) {
        const TilePosition at =
            block_tile(static_cast<int>(grid_.order.kind), grid_.order.group,
                       static_cast<int>(grid_.order.axis), static_cast<int>(tiles_m_),
                       static_cast<int>(tiles_n_), static_cast<int>(tile));
        note(at.m, wave);
        note(tiles_m_ + at.n, wave);
      }
      const double before = result.dram;
      account(wave, result);
      if (by_wave != nullptr) by_wave->push_back(result.dram - before);
    }
  }

 private:
  Panel& panel(std::int64_t index) { return panels_[static_cast<std::size_t>(index)]; }

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
  std::int64_t tiles_m_, tiles_n_, slots_;
  double capacity_;
  std::vector<Panel> panels_;  // rows of A, then columns of B
  LastUses uses_;
  std::vector<std::int64_t> used_;
};

// Bytes of one wave for a grid too large to walk: a wave covers about group x (slots / group)
// tiles.
double wave_estimate(const BlockGrid& grid, std::int64_t tiles_m, std::int64_t tiles_n,
                     std::int64_t tile_m, std::int64_t tile_n, double slots) {
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
  along = std::clamp(along, 1.0, std::min(slots, static_cast<double>(tiles_m)));
  const double across = std::clamp(slots / along, 1.0, static_cast<double>(tiles_n));
  return static_cast<double>(grid.k) * (along * static_cast<double>(tile_m) * grid.bytes_a +
                                        across * static_cast<double>(tile_n) * grid.bytes_b);
}

Result<void> check(const BlockGrid& g) {
  if (auto ok = check_sizes("block order", g.m, g.n, g.k); !ok) return ok;
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
  if (g.m == 0 || g.n == 0 || g.k == 0) return result;
  const Count m(g.m), n(g.n), k(g.k), sa(g.bytes_a), sb(g.bytes_b);
  result.minimum = m * k * sa + k * n * sb;
  const Count blocks_m = ceil_div(m, g.block_m), blocks_n = ceil_div(n, g.block_n);
  result.delivered = m * k * sa * blocks_n + k * n * sb * blocks_m;
  // A is shared by the blocks of a cluster along n, B along m.
  const Count asks_a = g.multicast ? ceil_div(blocks_n, g.cluster.n) : blocks_n;
  const Count asks_b = g.multicast ? ceil_div(blocks_m, g.cluster.m) : blocks_m;
  result.lookups = m * k * sa * asks_a + k * n * sb * asks_b;
  if (result.delivered.overflowed()) return bad_request("block order: bytes exceed 2^127 - 1");

  const Count tile_rows = Count(g.block_m) * Count(g.cluster.m),
              tile_columns = Count(g.block_n) * Count(g.cluster.n);
  const Count tiles = ceil_div(m, tile_rows) * ceil_div(n, tile_columns);
  const std::int64_t slots = std::max<std::int64_t>(1, g.slots / (g.cluster.m * g.cluster.n));
  const Count waves = ceil_div(tiles, slots);
  result.waves = waves <= Count(INT64_MAX) ? static_cast<std::int64_t>(waves.raw()) : INT64_MAX;
  const auto tile_m = static_cast<std::int64_t>(std::min(tile_rows.raw(), m.raw()));
  const auto tile_n = static_cast<std::int64_t>(std::min(tile_columns.raw(), n.raw()));
  const std::int64_t tiles_m = divide_up(g.m, tile_m), tiles_n = divide_up(g.n, tile_n);
  if (!walk) {
    result.exact = false;
    result.dram = result.wave_only = result.minimum.to_double();
  } else if (tiles <= Count(kExactTiles)) {
    LruForm(g, tiles_m, tiles_n, tile_m, tile_n, slots, capacity_bytes).run(result, by_wave);
  } else {
    result.exact = false;
    result.wave_only = waves.to_double() * wave_estimate(g, tiles_m, tiles_n, tile_m, tile_n,
                                                         static_cast<double>(slots));
    const double compulsory = result.minimum.to_double();
    result.wave_only = std::max(result.wave_only, compulsory);
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
