// A warp reads from a tile in shared memory. The request's names:
//   banks_rows, banks_columns   the tile, in elements (the block's k x n)
//   banks_layout                plain, pad:N (elements), swizzle:N (the schedule's)
//   banks_bytes                 width of one lane's access (the schedule's, or one element)
//   banks_pattern               row: lane i reads the i-th vector of a row
//                               column: lane i reads row i, at one column
//                               stride: lane i reads a row at (i mod banks_lanes) * banks_step
//   banks_at                    the row or column that is read
#include <algorithm>
#include <array>

#include "parts/swizzle.cuh"
#include "tilewise/access.h"
#include "web/answer.h"
#include "web/schedule_query.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kMostRows = 256, kMostColumns = 1024;
constexpr int kMostLines = 32;  // of 128 bytes, that are drawn
constexpr auto kLine = JsonWriter::Layout::line;

struct BankQuestion {
  int rows = 0, columns = 0, element_bytes = 4, width_bytes = 4;
  int pad_bytes = 0, swizzle_bytes = 0;
  std::string layout, pattern;
  int step = 1, lanes = WarpAccess::kLanes, at = 0;

  [[nodiscard]] int row_bytes() const { return columns * element_bytes; }
  [[nodiscard]] int offset(int row, int column) const {
    return shared_offset(row, column * element_bytes, row_bytes(), pad_bytes, swizzle_bytes);
  }
  [[nodiscard]] int vector() const { return std::max(1, width_bytes / element_bytes); }
  [[nodiscard]] std::pair<int, int> place(int lane) const {
    if (pattern == "column") return {lane, at * vector()};
    if (pattern == "row") return {at, lane * vector()};
    return {at, lane % lanes * step};
  }
};

Result<void> read_number(const Query& q, std::string_view name, std::int64_t low, std::int64_t high,
                         int& field) {
  const auto value = q.integer(name, low, high, std::clamp<std::int64_t>(field, low, high));
  if (!value) return std::unexpected(value.error());
  field = static_cast<int>(*value);
  return {};
}

// What the schedule itself does when a warp reads B.
BankQuestion usual(const Request& r) {
  BankQuestion b;
  const OutputTiles t = output_tiles(r.problem, r.schedule);
  b.rows = static_cast<int>(std::clamp<std::int64_t>(t.k, 1, kMostRows));
  b.columns = static_cast<int>(std::clamp<std::int64_t>(t.n, 1, kMostColumns));
  b.element_bytes = size_bytes(r.problem.type_a);
  b.width_bytes = std::max(r.schedule.vector_bytes.shared_b, b.element_bytes);
  b.layout = to_string(r.schedule.shared_layout);
  b.pattern = "row";
  const Tile* thread = find_tile(r.schedule, Level::thread);
  if (thread != nullptr && thread->n > 1) {
    b.pattern = "stride";
    b.step = static_cast<int>(std::min(thread->n / thread->repeat_n, kMostColumns));
    b.lanes = static_cast<int>(std::clamp<std::int64_t>(t.n / thread->n, 1, WarpAccess::kLanes));
  }
  return b;
}

Result<void> read_layout(const Query& q, BankQuestion& b) {
  if (q.has("banks_layout")) b.layout = q.value("banks_layout");
  Query one;
  one.add("layout", b.layout);
  const auto schedule = apply_schedule(one, Schedule{});
  if (!schedule) return std::unexpected(schedule.error());
  const SharedLayout& layout = schedule->shared_layout;
  if (layout.kind == SharedLayout::Kind::pad) b.pad_bytes = layout.amount * b.element_bytes;
  if (layout.kind == SharedLayout::Kind::swizzle) b.swizzle_bytes = layout.amount;
  return {};
}

Result<BankQuestion> read_question(const Request& r) {
  const Query& q = r.query;
  BankQuestion b = usual(r);
  if (q.has("banks_pattern")) b.pattern = q.value("banks_pattern");
  if (b.pattern != "row" && b.pattern != "column" && b.pattern != "stride") {
    return bad_request("banks_pattern is \"" + b.pattern.substr(0, 40) +
                       "\"; valid are row, column, stride");
  }
  for (const auto& done : {read_layout(q, b), read_number(q, "banks_rows", 1, kMostRows, b.rows),
                           read_number(q, "banks_columns", 1, kMostColumns, b.columns),
                           read_number(q, "banks_bytes", 1, 16, b.width_bytes),
                           read_number(q, "banks_step", 1, kMostColumns, b.step),
                           read_number(q, "banks_lanes", 1, WarpAccess::kLanes, b.lanes),
                           read_number(q, "banks_at", 0, kMostColumns, b.at)}) {
    if (!done) return std::unexpected(done.error());
  }
  if (b.width_bytes % b.element_bytes != 0 || (b.width_bytes & (b.width_bytes - 1)) != 0) {
    return bad_request("banks_bytes is " + std::to_string(b.width_bytes) +
                       "; it must be 1, 2, 4, 8 or 16 and whole elements of " +
                       std::to_string(b.element_bytes) + " bytes");
  }
  if (b.at >= (b.pattern == "column" ? b.columns / b.vector() : b.rows)) {
    return bad_request("banks_at is " + std::to_string(b.at) + "; the tile is " +
                       std::to_string(b.rows) + " x " + std::to_string(b.columns));
  }
  return b;
}

// The lane's byte offset; inactive where the tile ends, or where the access would not be aligned.
struct LaneAccess {
  WarpAccess access;
  bool aligned = true;
};

LaneAccess lanes_of(const BankQuestion& b) {
  LaneAccess lanes;
  lanes.access = warp_access(b.width_bytes, [&](int lane) -> std::int64_t {
    const auto [row, column] = b.place(lane);
    if (row >= b.rows || column + b.vector() > b.columns) return WarpAccess::kInactive;
    const int offset = b.offset(row, column);
    if (offset % b.width_bytes != 0) lanes.aligned = false;
    return offset;
  });
  return lanes;
}

// Which element starts each 4-byte word of the first lines: row * columns + column, -1 for padding.
void write_words(JsonWriter& w, const BankQuestion& b) {
  const int bytes = b.rows * (b.row_bytes() + b.pad_bytes);
  const int lines = std::min(kMostLines, (bytes + kSwizzleLineBytes - 1) / kSwizzleLineBytes);
  std::vector<int> words(static_cast<std::size_t>(lines * kSharedBanks), -1);
  for (int row = 0; row < b.rows; ++row) {
    for (int column = 0; column < b.columns; ++column) {
      const int offset = b.offset(row, column);
      const auto word = static_cast<std::size_t>(offset / kSharedBankBytes);
      const bool first = offset % kSharedBankBytes == 0;
      if (first && word < words.size()) words[word] = row * b.columns + column;
    }
  }
  w.member("lines", lines);
  w.key("words");
  w.begin_array(kLine);
  for (const int word : words) w.value(word);
  w.end_array();
}

void write_lanes(JsonWriter& w, const BankQuestion& b, const WarpAccess& access) {
  std::array<std::vector<std::int64_t>, kSharedBanks> distinct;
  w.key("lanes");
  w.begin_array();
  for (int lane = 0; lane < WarpAccess::kLanes; ++lane) {
    const std::int64_t offset = access.offsets[static_cast<std::size_t>(lane)];
    const auto [row, column] = b.place(lane);
    w.begin_object(kLine);
    w.member("lane", lane);
    w.member("active", offset >= 0);
    w.member("row", row);
    w.member("column", column);
    w.member("offset", offset);
    w.member("bank", offset < 0 ? -1 : shared_bank(static_cast<int>(offset)));
    w.end_object();
    if (offset < 0) continue;
    for (std::int64_t byte = offset; byte < offset + b.width_bytes; byte += kSharedBankBytes) {
      auto& words = distinct[static_cast<std::size_t>(shared_bank(static_cast<int>(byte)))];
      const std::int64_t word = byte / kSharedBankBytes;
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
  w.end_array();
  w.key("words_of_bank");  // distinct, over the whole warp
  w.begin_array(kLine);
  for (const auto& words : distinct) w.value(words.size());
  w.end_array();
}

}  // namespace

Answer answer_banks(const Request& r) {
  const auto b = read_question(r);
  if (!b) return std::unexpected(b.error());
  const LaneAccess lanes = lanes_of(*b);
  if (!lanes.aligned) {
    return bad_request("with " + b->layout + " and rows of " + std::to_string(b->row_bytes()) +
                       " bytes, an access of " + std::to_string(b->width_bytes) +
                       " bytes is not aligned; take another padding or a narrower access");
  }
  const SharedAccess cost = shared_access(lanes.access);
  JsonWriter w;
  w.begin_object();
  w.member("rows", b->rows);
  w.member("columns", b->columns);
  w.member("element_bytes", b->element_bytes);
  w.member("width_bytes", b->width_bytes);
  w.member("layout", b->layout);
  w.member("pattern", b->pattern);
  w.member("step", b->step);
  w.member("lanes_along", b->lanes);
  w.member("at", b->at);
  w.member("wavefronts", cost.wavefronts);
  w.member("ideal", cost.ideal);
  w.member("conflicts", cost.conflicts);
  write_words(w, *b);
  write_lanes(w, *b, lanes.access);
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
