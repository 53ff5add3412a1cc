// Inside a block: where the tiles of warps and threads lie, clipped at the edges, and what one
// thread owns. Rows and columns count from the block's corner.
#include <algorithm>

#include "web/answer.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kLargestBlock = 4096;

// Positions of tile `index` of an extent inside a parent tile: schedule.h, Tile.
std::vector<std::int64_t> positions(std::int64_t parent, std::int64_t extent, std::int64_t repeat,
                                    std::int64_t index) {
  const std::int64_t tiles = (parent - 1) / extent + 1, piece = extent / repeat;
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < repeat; ++i) {
    for (std::int64_t x = 0; x < piece; ++x) {
      found.push_back((i * tiles + index) * piece + x);
    }
  }
  return found;
}

// One dimension of the nest inside the block: the extents of its levels, the chosen innermost tile.
struct Nest {
  std::vector<std::int64_t> extents;  // outermost (the block) first
  std::int64_t repeat = 1;
  std::int64_t width = 0;  // of the block, clipped

  [[nodiscard]] std::int64_t count() const {  // innermost tiles, those beyond the edge included
    std::int64_t tiles = 1;
    for (std::size_t i = 1; i < extents.size(); ++i) {
      tiles *= (extents[i - 1] - 1) / extents[i] + 1;
    }
    return tiles;
  }
  // In-bounds positions of the innermost tile `index`, and the start of the tile around it.
  [[nodiscard]] std::vector<std::int64_t> own(std::int64_t index) const {
    std::int64_t base = 0;
    for (std::size_t i = 1; i + 1 < extents.size(); ++i) {
      std::int64_t inside = 1;
      for (std::size_t j = i + 1; j < extents.size(); ++j) {
        inside *= (extents[j - 1] - 1) / extents[j] + 1;
      }
      base += index / inside * extents[i];
      index %= inside;
    }
    if (extents.size() < 2) return {};
    std::vector<std::int64_t> found;
    for (const std::int64_t x :
         positions(extents[extents.size() - 2], extents.back(), repeat, index)) {
      if (base + x < width) found.push_back(base + x);
    }
    return found;
  }
};

// The innermost tile that owns a position; -1 where none does.
std::int64_t owner_of(const Nest& nest, std::int64_t position) {
  for (std::int64_t i = 0; i < nest.count(); ++i) {
    const auto own = nest.own(i);
    if (std::find(own.begin(), own.end(), position) != own.end()) return i;
  }
  return -1;
}

// "thread=ROW,COLUMN", or the owner of "element=ROW,COLUMN" of the block.
Result<std::pair<std::int64_t, std::int64_t>> read_thread(const Query& query, const Nest& m,
                                                          const Nest& n) {
  const bool by_element = query.has("element");
  const std::string_view name = by_element ? "element" : "thread";
  if (!query.has(name)) return std::pair<std::int64_t, std::int64_t>{0, 0};
  const auto parts = split(query.value(name), ',');
  if (parts.size() != 2) {
    return bad_request(std::string(name) + " is \"" + std::string(query.value(name).substr(0, 40)) +
                       "\"; it is a row and a column, such as 0,0");
  }
  const auto row = whole_number(std::string(name) + " (row)", parts[0], 0,
                                (by_element ? m.width : m.count()) - 1);
  if (!row) return std::unexpected(row.error());
  const auto column = whole_number(std::string(name) + " (column)", parts[1], 0,
                                   (by_element ? n.width : n.count()) - 1);
  if (!column) return std::unexpected(column.error());
  if (!by_element) return std::pair{*row, *column};
  return std::pair{owner_of(m, *row), owner_of(n, *column)};
}

void write_numbers(JsonWriter& w, std::string_view name, const std::vector<std::int64_t>& numbers) {
  w.key(name);
  w.begin_array(JsonWriter::Layout::line);
  for (const std::int64_t number : numbers) w.value(number);
  w.end_array();
}

}  // namespace

Answer answer_inside(const Request& r) {
  const OutputTiles t = output_tiles(r.problem, r.schedule);
  const auto at = read_position(r, t);
  if (!at) return std::unexpected(at.error());
  Nest m, n;
  m.width = at->m_end - at->m_begin;
  n.width = at->n_end - at->n_begin;
  for (Tile tile : r.schedule.tiles) {
    if (r.schedule.swap_ab) std::swap(tile.m, tile.n), std::swap(tile.repeat_m, tile.repeat_n);
    m.extents.push_back(tile.m != 0 ? tile.m : m.extents.empty() ? r.problem.m : m.extents.back());
    n.extents.push_back(tile.n != 0 ? tile.n : n.extents.empty() ? r.problem.n : n.extents.back());
    m.repeat = tile.repeat_m, n.repeat = tile.repeat_n;
  }
  if (m.extents.size() < 2) {
    return bad_request("this schedule has one level: there is no tile inside the block to show");
  }
  if (m.extents.front() > kLargestBlock || n.extents.front() > kLargestBlock) {
    return bad_request("the outermost tile is larger than 4096: its inside is not drawn");
  }
  const auto thread = read_thread(r.query, m, n);
  if (!thread) return std::unexpected(thread.error());
  const auto [row, column] = *thread;
  JsonWriter w;
  w.begin_object();
  w.member("height", m.width);
  w.member("width", n.width);
  w.member("depth", at->k_end - at->k_begin);
  write_numbers(w, "extents_m", m.extents);
  write_numbers(w, "extents_n", n.extents);
  w.member("repeat_m", m.repeat);
  w.member("repeat_n", n.repeat);
  w.member("level", to_string(r.schedule.tiles.back().level));
  w.member("threads_m", m.count());
  w.member("threads_n", n.count());
  w.member("thread_row", row);
  w.member("thread_column", column);
  write_numbers(w, "rows", m.own(row));
  write_numbers(w, "columns", n.own(column));
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
