#include <algorithm>

#include "web/answer.h"

namespace tilewise::web {
namespace {

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

Result<std::int64_t> index_of(std::string_view what, std::string_view text, std::int64_t count) {
  return whole_number(what, text, 0, count - 1);
}

}  // namespace

OutputTiles output_tiles(const Problem& p, const Schedule& s) {
  OutputTiles t;
  Tile outer{Level::thread, 1, 1, 1, 1, 1};  // a schedule with no tiles is the naive kernel
  if (!s.tiles.empty()) outer = s.tiles.front();
  if (s.swap_ab) std::swap(outer.m, outer.n);
  t.m = outer.m == 0 ? p.m : outer.m;
  t.n = outer.n == 0 ? p.n : outer.n;
  t.k = outer.k == 0 ? p.k : outer.k;
  t.tiles_m = p.m == 0 ? 0 : divide_up(p.m, t.m);
  t.tiles_n = p.n == 0 ? 0 : divide_up(p.n, t.n);
  t.phases = p.k == 0 ? 0 : divide_up(p.k, t.k);
  return t;
}

Result<Position> read_position(const Request& request, const OutputTiles& t) {
  const Problem& p = request.problem;
  if (t.tiles_m == 0 || t.tiles_n == 0) {
    return bad_request("M or N is 0: C has no tile to step through");
  }
  Position at;
  if (request.query.has("at")) {
    const auto parts = split(request.query.value("at"), ',');
    if (parts.size() != 2) {
      return bad_request("at is \"" + std::string(request.query.value("at").substr(0, 40)) +
                         "\"; it is the row and the column of a tile of C, such as 0,0");
    }
    const auto row = index_of("at (row of a tile)", parts[0], t.tiles_m);
    if (!row) return std::unexpected(row.error());
    const auto column = index_of("at (column of a tile)", parts[1], t.tiles_n);
    if (!column) return std::unexpected(column.error());
    at.row = *row, at.column = *column;
  }
  const auto phase = request.query.integer("phase", 0, std::max<std::int64_t>(t.phases - 1, 0), 0);
  if (!phase) return std::unexpected(phase.error());
  at.phase = *phase;
  at.m_begin = at.row * t.m, at.m_end = std::min(p.m - at.m_begin, t.m) + at.m_begin;
  at.n_begin = at.column * t.n, at.n_end = std::min(p.n - at.n_begin, t.n) + at.n_begin;
  at.k_begin = at.phase * t.k, at.k_end = std::min(p.k - at.k_begin, t.k) + at.k_begin;
  return at;
}

}  // namespace tilewise::web
