#include "tilewise/mma.h"
#include "web/answer.h"

namespace tilewise::web {
namespace {

// The schedule's own instruction; m16n8k16 where it has none.
MmaShape shape_of(const Schedule& s) {
  const Tile* tile = find_tile(s, Level::instruction);
  constexpr std::int64_t kLargest = 4096;
  if (tile == nullptr || tile->m < 1 || tile->n < 1 || tile->k < 1 || tile->m > kLargest ||
      tile->n > kLargest || tile->k > kLargest) {
    return {};
  }
  return {static_cast<int>(tile->m), static_cast<int>(tile->n), static_cast<int>(tile->k)};
}

}  // namespace

Answer answer_fragment(const Request& r) {
  MmaShape shape = shape_of(r.schedule);
  if (r.query.has("fragment")) {
    const auto parsed = parse_mma_shape(r.query.value("fragment").substr(0, 40));
    if (!parsed) return std::unexpected(parsed.error());
    shape = *parsed;
  }
  const auto layout = mma_layout(shape);
  if (!layout) return std::unexpected(layout.error());
  JsonWriter w;
  w.begin_object();
  w.member("shape", to_string(layout->shape));
  w.member("title", layout->title);
  w.key("fragments");
  w.begin_array();
  for (const FragmentLayout& f : layout->fragments) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("operand", f.operand);
    w.member("rows", f.rows);
    w.member("columns", f.columns);
    w.member("threads", f.threads);
    w.member("elements_per_thread", f.elements_per_thread);
    w.key("thread");
    w.begin_array();
    for (const FragmentHolder& holder : f.holders) w.value(holder.thread);
    w.end_array();
    w.key("element");
    w.begin_array();
    for (const FragmentHolder& holder : f.holders) w.value(holder.element);
    w.end_array();
    w.end_object();
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
