#include "tilewise/estimate.h"
#include "web/answer.h"

namespace tilewise::web {
namespace {

constexpr auto kLine = JsonWriter::Layout::line;

void write_level(JsonWriter& w, const Schedule& s, const LevelCount& level, std::size_t index) {
  w.begin_object(kLine);
  w.member("level", to_string(level.level));
  w.member("reads_from", reads_from(s, index));
  w.member("m", level.m);
  w.member("n", level.n);
  w.member("k", level.k);
  w.member("reads_a", level.reads_a.to_string());
  w.member("reads_b", level.reads_b.to_string());
  w.member("reads", level.reads.to_string());
  w.member("reuse_a", level.reuse_a);
  w.member("reuse_b", level.reuse_b);
  w.member("intensity", level.intensity);
  w.end_object();
}

// The floor for reads into the memories of all SMs; null where the machine's kind is another or the
// schedule does not fit it.
void write_bound(JsonWriter& w, const Request& r) {
  const auto e = estimate(r.problem, r.schedule, *r.machine, false);
  w.key("bound_bytes");
  const bool known = e && !e->levels.empty() && e->levels.front().bound_bytes > 0;
  known ? w.value(e->levels.front().bound_bytes) : w.null();
}

}  // namespace

Answer answer_count(const Request& r) {
  const auto counted = count_levels(r.problem, r.schedule);
  if (!counted) return std::unexpected(counted.error());
  const OutputTiles tiles = output_tiles(r.problem, r.schedule);
  JsonWriter w;
  w.begin_object();
  w.member("m", r.problem.m);
  w.member("n", r.problem.n);
  w.member("k", r.problem.k);
  w.member("type", to_string(r.problem.type_a));
  w.member("operands", r.operands);
  w.member("element_bytes", size_bytes(r.problem.type_a));
  w.member("schedule", r.schedule.name);
  w.member("kernel", r.schedule.kernel);
  w.member("note", r.schedule.note);
  w.member("device", to_string(r.schedule.device));
  w.member("stages", r.schedule.stages);
  w.member("copy", to_string(r.schedule.copy));
  w.member("staged", stages_in_shared(r.schedule));  // in shared memory
  w.member("machine", r.machine->name);
  w.member("tile_m", tiles.m);
  w.member("tile_n", tiles.n);
  w.member("tile_k", tiles.k);
  w.member("tiles_m", tiles.tiles_m);
  w.member("tiles_n", tiles.tiles_n);
  w.member("phases", tiles.phases);
  w.member("naive", counted->naive.to_string());
  w.member("tiled", counted->tiled.to_string());
  w.member("minimum", counted->minimum.to_string());
  w.member("blocks", counted->blocks.to_string());
  write_bound(w, r);
  w.key("levels");
  w.begin_array();
  for (std::size_t i = 0; i < counted->levels.size(); ++i) {
    write_level(w, r.schedule, counted->levels[i], i);
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
