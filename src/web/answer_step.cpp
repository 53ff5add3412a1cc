// Counters at one moment of one phase. A tile of C that is h x w and has passed k0 of K has read
// what the closed form gives for an h x w x k0 product; tiles launched before it are of four kinds
// (whole, cut at the right, at the bottom, at both), each counted once and multiplied. Where K is
// split, all tiles have passed the parts before this one, and those before the tile this part too.
#include <algorithm>
#include <array>

#include "parts/order.cuh"
#include "web/answer.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kMostTiles = std::int64_t{1} << 18;  // that an order is walked over

enum class Moment : std::uint8_t { load, full, multiply, empty };

Result<Moment> read_moment(const Query& query) {
  const std::string_view text = query.value("moment");
  if (text.empty() || text == "load") return Moment::load;
  if (text == "full") return Moment::full;
  if (text == "multiply") return Moment::multiply;
  if (text == "empty") return Moment::empty;
  return bad_request("moment is \"" + std::string(text.substr(0, 40)) +
                     "\"; valid are load, full, multiply, empty");
}

// Reads by level of an m x n x k part of the product.
struct Reads {
  std::vector<Count> a, b;
  Count naive;
};

Result<Reads> reads_of(const Request& r, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto counted = count_levels(make_problem(m, n, k, r.problem.type_a), r.schedule);
  if (!counted) return std::unexpected(counted.error());
  Reads reads;
  reads.naive = counted->naive;
  for (const LevelCount& level : counted->levels) {
    reads.a.push_back(level.reads_a);
    reads.b.push_back(level.reads_b);
  }
  return reads;
}

void add_times(Reads& sum, const Reads& part, std::int64_t times) {
  sum.naive += part.naive * Count(times);
  for (std::size_t i = 0; i < part.a.size(); ++i) {
    sum.a[i] += part.a[i] * Count(times);
    sum.b[i] += part.b[i] * Count(times);
  }
}

// Tiles by kind. Bit 0: of the last column, bit 1: of the last row.
using Kinds = std::array<std::int64_t, 4>;

// How many tiles of each kind were launched before the chosen one.
struct Before {
  std::int64_t index = 0;  // of the chosen tile in launch order
  Kinds kinds{};
};

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

// The order runs over whole clusters; inside one, blocks are taken row by row. Blocks of a cluster
// that lie outside C are none of its tiles.
Before walk(const Schedule& s, const OutputTiles& t, const Position& at) {
  const auto clusters_m = static_cast<int>(divide_up(t.tiles_m, s.cluster.m));
  const auto clusters_n = static_cast<int>(divide_up(t.tiles_n, s.cluster.n));
  Before before;
  for (int i = 0; i < clusters_m * clusters_n; ++i) {
    const TilePosition cluster =
        block_tile(static_cast<int>(s.order.kind), s.order.group, static_cast<int>(s.order.axis),
                   clusters_m, clusters_n, i);
    for (int j = 0; j < s.cluster.m * s.cluster.n; ++j) {
      const std::int64_t row = std::int64_t{cluster.m} * s.cluster.m + j / s.cluster.n;
      const std::int64_t column = std::int64_t{cluster.n} * s.cluster.n + j % s.cluster.n;
      if (row >= t.tiles_m || column >= t.tiles_n) continue;
      if (row == at.row && column == at.column) return before;
      const bool right = column == t.tiles_n - 1, bottom = row == t.tiles_m - 1;
      ++before.kinds[(right ? 1U : 0U) + (bottom ? 2U : 0U)];
      ++before.index;
    }
  }
  return before;
}

void write_reads(JsonWriter& w, std::string_view name, const Request& r, const Reads& outer,
                 const Reads& inner) {
  w.key(name);
  w.begin_object();
  w.member("naive", inner.naive.to_string());
  w.key("levels");
  w.begin_array();
  for (std::size_t i = 0; i < outer.a.size(); ++i) {
    const Reads& from = i == 0 ? outer : inner;
    w.begin_object(JsonWriter::Layout::line);
    w.member("level", to_string(r.schedule.tiles[i].level));
    w.member("reads_from", reads_from(r.schedule, i));
    w.member("reads_a", from.a[i].to_string());
    w.member("reads_b", from.b[i].to_string());
    w.member("reads", (from.a[i] + from.b[i]).to_string());
    w.end_object();
  }
  w.end_array();
  w.end_object();
}

// The part of a split K that a phase lies in, as kernels/parts/work_list.cuh cuts it.
struct Part {
  std::int64_t way = 0, k_begin = 0, k_end = 0;
};

Part part_of(const Request& r, const OutputTiles& t, std::int64_t phase) {
  const std::int64_t ways = std::max(r.schedule.split_k.ways, 1);
  const auto first = [&](std::int64_t way) {
    return static_cast<std::int64_t>(static_cast<__int128>(t.phases) * way / ways);
  };
  Part part;
  while (part.way + 1 < ways && first(part.way + 1) <= phase) ++part.way;
  part.k_begin = std::min(r.problem.k, first(part.way) * t.k);
  part.k_end = std::min(r.problem.k, first(part.way + 1) * t.k);
  return part;
}

// Adds what tiles read over so much of K, or returns the error of a count.
Result<void> add_tiles(Reads& sum, const Request& r, const OutputTiles& t, const Kinds& kinds,
                       std::int64_t k) {
  const std::int64_t last_m = r.problem.m - (t.tiles_m - 1) * t.m;
  const std::int64_t last_n = r.problem.n - (t.tiles_n - 1) * t.n;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind] == 0 || k == 0) continue;
    const auto one = reads_of(r, kind & 2 ? last_m : t.m, kind & 1 ? last_n : t.n, k);
    if (!one) return std::unexpected(one.error());
    add_times(sum, *one, kinds[kind]);
  }
  return {};
}

// What all blocks launched before this one have read.
Result<Reads> reads_before(const Request& r, const OutputTiles& t, const Before& before,
                           const Part& part) {
  auto sum = reads_of(r, 0, 0, 0);
  if (!sum) return sum;
  const std::int64_t wide = t.tiles_n - 1, high = t.tiles_m - 1;
  if (auto ok = add_tiles(*sum, r, t, {high * wide, high, wide, 1}, part.k_begin); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = add_tiles(*sum, r, t, before.kinds, part.k_end - part.k_begin); !ok) {
    return std::unexpected(ok.error());
  }
  return sum;
}

void write_ranges(JsonWriter& w, const Position& at) {
  w.member("row", at.row);
  w.member("column", at.column);
  w.member("phase", at.phase);
  w.member("m_begin", at.m_begin);
  w.member("m_end", at.m_end);
  w.member("n_begin", at.n_begin);
  w.member("n_end", at.n_end);
  w.member("k_begin", at.k_begin);
  w.member("k_end", at.k_end);
}

}  // namespace

Answer answer_step(const Request& r) {
  const OutputTiles t = output_tiles(r.problem, r.schedule);
  const auto at = read_position(r, t);
  if (!at) return std::unexpected(at.error());
  const auto moment = read_moment(r.query);
  if (!moment) return std::unexpected(moment.error());
  const std::int64_t height = at->m_end - at->m_begin, width = at->n_end - at->n_begin;
  // The outermost level's tiles have been read once they are loaded, what is inside once
  // multiplied.
  const bool multiplied = *moment >= Moment::multiply;
  const auto outer = reads_of(r, height, width, at->k_end);
  if (!outer) return std::unexpected(outer.error());
  const std::int64_t k_inner = multiplied ? at->k_end : at->k_begin;
  const auto inner = reads_of(r, height, width, k_inner);
  if (!inner) return std::unexpected(inner.error());

  JsonWriter w;
  w.begin_object();
  write_ranges(w, *at);
  w.member("moment", r.query.has("moment") ? r.query.value("moment") : "load");
  w.member("load_a", (Count(height) * Count(at->k_end - at->k_begin)).to_string());
  w.member("load_b", (Count(width) * Count(at->k_end - at->k_begin)).to_string());
  write_reads(w, "tile", r, *outer, *inner);
  if (r.schedule.stream_k) {
    w.member("stream_k", true);  // a block's range of steps begins and ends inside tiles
  } else if (t.tiles_m <= kMostTiles && t.tiles_n <= kMostTiles &&
             t.tiles_m * t.tiles_n <= kMostTiles) {
    const Before before = walk(r.schedule, t, *at);
    const Part part = part_of(r, t, at->phase);
    auto whole_outer = reads_before(r, t, before, part);
    if (!whole_outer) return std::unexpected(whole_outer.error());
    Reads whole_inner = *whole_outer;
    // Of this block, which began with its part of K.
    const auto block_outer = reads_of(r, height, width, at->k_end - part.k_begin);
    if (!block_outer) return std::unexpected(block_outer.error());
    const auto block_inner = reads_of(r, height, width, k_inner - part.k_begin);
    if (!block_inner) return std::unexpected(block_inner.error());
    add_times(*whole_outer, *block_outer, 1);
    add_times(whole_inner, *block_inner, 1);
    w.member("index", part.way * t.tiles_m * t.tiles_n + before.index);
    w.member("ways", std::max(r.schedule.split_k.ways, 1));
    write_reads(w, "product", r, *whole_outer, whole_inner);
  } else {
    w.member("most_walked", kMostTiles);
  }
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
