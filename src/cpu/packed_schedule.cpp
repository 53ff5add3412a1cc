#include "cpu/packed_schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tilewise::cpu {
namespace {

// A task's output. Beyond these the panels' cost is under 2 % of the product's, and a larger task
// only takes more memory.
constexpr std::int64_t kLargestTaskM = 1024;
constexpr std::int64_t kLargestTaskN = 2048;
// Packing one element costs about as much as this many multiply-adds of the register tile: some 35
// with AVX-512, fewer where the tile is slower.
constexpr double kPackCost = 24;
// Threads do not run at the same speed: the last task of the slowest is waited for.
constexpr double kUnevenness = 0.25;
constexpr std::int64_t kMostPieces = 64;  // tried along each side

std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }
std::int64_t round_up(std::int64_t x, std::int64_t y) { return ceil_div(x, y) * y; }

// Equal pieces of at most `most`, rounded up to a multiple of `step`.
std::int64_t even_pieces(std::int64_t length, std::int64_t most, std::int64_t step) {
  const std::int64_t pieces = ceil_div(length, std::max(most, step));
  return round_up(ceil_div(length, std::max<std::int64_t>(pieces, 1)), step);
}

std::string schedule_name(const KernelShape& kernel) {
  return "packed_" + std::string(kernel.target) + "_" + std::string(to_string(kernel.accumulator));
}

struct Task {
  std::int64_t m, n;
};

// Time of the whole product, in multiply-adds of one thread, with tasks of this size.
double cost_of(const Problem& p, const Task& task, int threads) {
  const double tasks = static_cast<double>(ceil_div(p.m, task.m)) *
                       static_cast<double>(ceil_div(p.n, task.n)) * static_cast<double>(p.batch);
  const double m = static_cast<double>(task.m);
  const double n = static_cast<double>(task.n);
  const double one = m * n + kPackCost * (m + n);
  if (threads == 1) return tasks * one;
  return (std::ceil(tasks / threads) + kUnevenness) * one;
}

// The cheapest division of the output into equal tasks.
Task fit_task(const Problem& p, const KernelShape& kernel, std::int64_t largest_n, int threads) {
  const std::int64_t least_m = ceil_div(p.m, kLargestTaskM);
  const std::int64_t least_n = ceil_div(p.n, largest_n);
  const std::int64_t more = threads > 1 ? kMostPieces : 1;
  Task best{};
  double best_cost = 0;
  for (std::int64_t i = least_m; i < least_m + more; ++i) {
    for (std::int64_t j = least_n; j < least_n + more; ++j) {
      const Task task{.m = even_pieces(p.m, ceil_div(p.m, i), kernel.mr),
                      .n = even_pieces(p.n, ceil_div(p.n, j), kernel.nr)};
      const double cost = cost_of(p, task, threads);
      if (best.m == 0 || cost < best_cost) {
        best = task;
        best_cost = cost;
      }
      if (task.n <= kernel.nr) break;
    }
    if (ceil_div(p.m, i) <= kernel.mr) break;
  }
  return best;
}

Result<void> refuse(const Schedule& s, const std::string& what, const KernelShape& kernel) {
  return bad_request("prepare: schedule \"" + s.name + "\" " + what + "; take schedule \"" +
                     schedule_name(kernel) + "\"");
}

Result<void> check_fields(const Schedule& s, const Problem& p, const KernelShape& kernel) {
  if (s.kernel != "packed") {
    return refuse(s, "names kernel \"" + s.kernel + "\"; on the CPU there is \"packed\"", kernel);
  }
  const Schedule plain;
  const bool other_fields = s.cluster != plain.cluster || s.stages != plain.stages ||
                            s.copy != plain.copy || s.vector_bytes != plain.vector_bytes ||
                            s.shared_layout != plain.shared_layout || s.split_k != plain.split_k ||
                            s.stream_k || s.persistent || s.consumers != plain.consumers ||
                            s.swap_ab || s.promote_every != 0;
  if (other_fields) {
    return refuse(s,
                  "sets a field that kernel \"packed\" does not honour (it honours tiles, order "
                  "row or column, and compute)",
                  kernel);
  }
  if (s.order.kind != Order::Kind::row && s.order.kind != Order::Kind::column) {
    return refuse(s,
                  "asks for order " + std::string(to_string(s.order.kind)) +
                      "; kernel \"packed\" has row and column",
                  kernel);
  }
  if (s.compute != p.compute) {
    return refuse(s,
                  "computes in " + std::string(to_string(s.compute)) + ", the problem asks for " +
                      std::string(to_string(p.compute)),
                  kernel);
  }
  return {};
}

Result<void> check_tiles(const Schedule& s, const KernelShape& kernel) {
  for (const Tile& tile : s.tiles) {
    if (tile.level < Level::nc) {
      return refuse(s,
                    "has level " + std::string(to_string(tile.level)) +
                        "; kernel \"packed\" has nc, kc, mc and register",
                    kernel);
    }
    const bool only_k = tile.level == Level::kc && (tile.m != 0 || tile.n != 0);
    const bool no_k = tile.level != Level::kc && tile.level != Level::register_tile && tile.k != 0;
    const bool no_n = tile.level == Level::mc && tile.n != 0;
    if (only_k || no_k || no_n || tile.repeat_m != 1 || tile.repeat_n != 1) {
      return refuse(s,
                    "tiles level " + std::string(to_string(tile.level)) +
                        " in a way that kernel \"packed\" has not: nc tiles m and n, kc tiles k, "
                        "mc tiles m, register m and n",
                    kernel);
    }
  }
  const Tile* tile = find_tile(s, Level::register_tile);
  const std::int64_t m = tile != nullptr ? tile->m : 0;
  const std::int64_t n = tile != nullptr ? tile->n : 0;
  const std::int64_t k = tile != nullptr ? tile->k : 0;
  if (m != kernel.mr || n != kernel.nr || k > 1) {
    return refuse(s,
                  "has a register tile of " + std::to_string(m) + " x " + std::to_string(n) +
                      "; kernel \"packed\" on " + std::string(kernel.target) + " is compiled for " +
                      std::to_string(kernel.mr) + " x " + std::to_string(kernel.nr),
                  kernel);
  }
  return {};
}

// A level's extent, 0 standing for all there is, clipped to that.
std::int64_t extent(const Schedule& s, Level level, std::int64_t Tile::* side, std::int64_t whole) {
  const Tile* tile = find_tile(s, level);
  const std::int64_t length = tile != nullptr && tile->*side != 0 ? tile->*side : whole;
  return std::max<std::int64_t>(std::min(length, whole), 1);
}

}  // namespace

std::int64_t fit_kc(std::int64_t k) {
  if (k <= kBlockOfK) return std::max<std::int64_t>(k, 1);
  const std::int64_t blocks = k / kBlockOfK + (k % kBlockOfK >= kBlockOfK / 2);
  return ceil_div(k, blocks);
}

Schedule fit_packed_schedule(const Problem& p, const KernelShape& kernel, const CacheSizes& caches,
                             int threads) {
  const std::int64_t bytes = size_bytes(kernel.accumulator);
  const std::int64_t kc = fit_kc(p.k);
  // A block of A takes half of the second-level cache: panels of B and sums pass through the rest.
  const std::int64_t largest_mc =
      std::max(kernel.mr, caches.l2_bytes / 2 / (kc * bytes) / kernel.mr * kernel.mr);
  // A thread's panel of B takes a quarter of its share of the last level.
  const std::int64_t share =
      std::max(caches.l3_bytes / std::max(caches.l3_shared_by, 1), 2 * caches.l2_bytes);
  const std::int64_t largest_n =
      std::clamp(share / 4 / (kc * bytes) / kernel.nr * kernel.nr, 4 * kernel.nr, kLargestTaskN);
  Schedule s;
  s.name = schedule_name(kernel);
  s.kernel = "packed";
  s.device = Device::cpu;
  s.compute = p.compute;
  const bool empty = p.m == 0 || p.n == 0 || p.batch == 0;
  const Task task = empty ? Task{kernel.mr, kernel.nr} : fit_task(p, kernel, largest_n, threads);
  s.tiles = {{.level = Level::nc, .m = task.m, .n = task.n},
             {.level = Level::kc, .k = kc},
             {.level = Level::mc, .m = even_pieces(task.m, largest_mc, kernel.mr)},
             {.level = Level::register_tile, .m = kernel.mr, .n = kernel.nr, .k = 1}};
  return s;
}

Result<PackedTiles> resolve_packed_schedule(const Schedule& s, const Problem& p,
                                            const KernelShape& kernel) {
  if (auto ok = check_fields(s, p, kernel); !ok) return std::unexpected(ok.error());
  if (auto ok = check_tiles(s, kernel); !ok) return std::unexpected(ok.error());
  PackedTiles tiles;
  tiles.task_m = extent(s, Level::nc, &Tile::m, p.m);
  tiles.task_n = extent(s, Level::nc, &Tile::n, p.n);
  tiles.kc = extent(s, Level::kc, &Tile::k, p.k);
  tiles.mc = extent(s, Level::mc, &Tile::m, tiles.task_m);
  return tiles;
}

}  // namespace tilewise::cpu
