#include "tilewise/estimate.h"
#include "web/answer.h"

namespace tilewise::web {
namespace {

constexpr auto kLine = JsonWriter::Layout::line;

void known(JsonWriter& w, std::string_view name, double value) {
  w.key(name);
  value > 0 ? w.value(value) : w.null();
}

void write_levels(JsonWriter& w, std::string_view name, const std::vector<LevelEstimate>& levels) {
  w.key(name);
  w.begin_array();
  for (const LevelEstimate& level : levels) {
    w.begin_object(kLine);
    w.member("level", level.level);
    w.member("reads_from", level.memory);
    w.member("m", level.m);
    w.member("n", level.n);
    w.member("k", level.k);
    w.member("reads", level.reads.to_string());
    w.member("bytes", level.bytes);
    known(w, "bound_bytes", level.bound_bytes);
    w.member("intensity", level.intensity);
    known(w, "ridge", level.ridge);
    w.end_object();
  }
  w.end_array();
}

void write_block(JsonWriter& w, const Estimate& e, const Machine& machine) {
  const Footprint& f = e.footprint;
  w.key("block");
  w.begin_object(kLine);
  w.member("m", f.block_m);
  w.member("n", f.block_n);
  w.member("k", f.block_k);
  w.member("threads", f.block.threads);
  w.member("shared_bytes", f.block.shared_bytes);
  w.member("registers_per_thread", f.block.registers_per_thread);
  w.member("formula", f.formula);
  w.end_object();
  w.key("limits");
  w.begin_object(kLine);
  w.member("threads", machine.limits.threads_per_block);
  w.member("shared_bytes", machine.limits.shared_bytes_per_block);
  w.member("shared_bytes_per_sm", machine.limits.shared_bytes_per_sm);
  w.member("registers_per_thread", machine.limits.registers_per_thread);
  w.member("registers_per_sm", machine.limits.registers_per_sm);
  w.member("warps", machine.limits.warps_per_sm);
  w.member("blocks", machine.limits.blocks_per_sm);
  w.end_object();
  w.key("occupancy");
  w.begin_object(kLine);
  w.member("blocks_per_sm", e.occupancy.blocks_per_sm);
  w.member("occupancy", e.occupancy.occupancy);
  w.member("limiter", e.occupancy.limiter);
  w.member("by_registers", e.occupancy.by_registers);
  w.member("by_shared", e.occupancy.by_shared);
  w.member("by_warps", e.occupancy.by_warps);
  w.member("by_blocks", e.occupancy.by_blocks);
  w.end_object();
  w.key("waves");
  w.begin_object(kLine);
  w.member("tiles", e.waves.tiles.to_string());
  w.member("waves", e.waves.waves.to_string());
  w.member("fraction", e.waves.fraction);
  w.member("efficiency", e.waves.efficiency);
  w.end_object();
  w.member("padding_efficiency", e.padding_efficiency);
}

void write_terms(JsonWriter& w, const Estimate& e) {
  w.key("terms");
  w.begin_array();
  for (const TimeTerm& term : e.terms) {
    w.begin_object(kLine);
    w.member("name", term.name);
    w.member("time_us", term.time_us);
    w.member("how", term.how);
    w.end_object();
  }
  w.end_array();
  w.key("notes");
  w.begin_array();
  for (const std::string& note : e.notes) w.value(note);
  w.end_array();
}

}  // namespace

Answer answer_estimate(const Request& r) {
  if (auto ok = check_matrix_bytes(r.problem); !ok) return std::unexpected(ok.error());
  const auto e = estimate(r.problem, r.schedule, *r.machine);
  if (!e) return std::unexpected(e.error());
  JsonWriter w;
  w.begin_object();
  w.member("machine", r.machine->name);
  w.member("title", r.machine->title);
  w.member("units", r.machine->num_units);
  w.member("arithmetic", to_string(e->arithmetic));
  w.member("peak", e->peak.peak);
  known(w, "peak_tflops", e->peak_tflops);
  known(w, "ridge", e->ridge);
  known(w, "time_us", e->time_us);
  known(w, "tflops", e->tflops);
  w.member("limiter", e->limiter);
  write_levels(w, "levels", e->levels);
  write_levels(w, "memories", e->memories);
  known(w, "dram_bound_bytes", e->dram_bound_bytes);
  if (r.machine->device == Device::gpu) write_block(w, *e, *r.machine);
  write_terms(w, *e);
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
