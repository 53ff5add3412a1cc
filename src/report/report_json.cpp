#include "report/report_json.h"

#include "io/schedule_json.h"
#include "report/epilogue_traffic.h"

namespace tilewise {
namespace {

constexpr auto kLine = JsonWriter::Layout::line;

// null where it is unknown, or nothing is compared.
void known(JsonWriter& w, std::string_view name, double value) {
  w.key(name);
  value > 0 ? w.value(value) : w.null();
}

void write_levels(JsonWriter& w, std::string_view name, const std::vector<LevelEstimate>& levels,
                  bool tiling) {
  w.key(name);
  w.begin_array();
  for (const LevelEstimate& level : levels) {
    w.begin_object(kLine);
    w.member("level", level.level);
    if (tiling) {
      w.member("reads_from", level.memory);
      w.member("m", level.m);
      w.member("n", level.n);
      w.member("k", level.k);
      w.member("reads", level.reads);
    }
    w.member("bytes", level.bytes);
    known(w, "bound_bytes", level.bound_bytes);
    w.member("intensity", level.intensity);
    known(w, "ridge", level.ridge);
    w.end_object();
  }
  w.end_array();
}

void write_rows(JsonWriter& w, const Traffic& traffic) {
  w.key("rows");
  w.begin_array();
  for (const TrafficRow& row : traffic.rows) {
    w.begin_object(kLine);
    w.member("level", row.level);
    w.member("operand", to_string(row.operand));
    w.member("direction", to_string(row.direction));
    w.member("quantity", to_string(row.quantity));
    w.member("unit", row.unit);
    w.member("counted", row.value);
    w.end_object();
  }
  w.end_array();
}

void write_block(JsonWriter& w, const Estimate& e) {
  const Footprint& f = e.footprint;
  w.key("block");
  w.begin_object();
  w.member("m", f.block_m);
  w.member("n", f.block_n);
  w.member("k", f.block_k);
  w.member("threads", f.block.threads);
  w.member("shared_bytes", f.block.shared_bytes);
  w.member("registers_per_thread", f.block.registers_per_thread);
  w.member("formula", f.formula);
  w.member("intensity", e.block_intensity);
  w.end_object();
  w.key("occupancy");
  w.begin_object();
  w.member("blocks_per_sm", e.occupancy.blocks_per_sm);
  w.member("occupancy", e.occupancy.occupancy);
  w.member("limiter", e.occupancy.limiter);
  w.member("by_registers", e.occupancy.by_registers);
  w.member("by_shared", e.occupancy.by_shared);
  w.member("by_warps", e.occupancy.by_warps);
  w.member("by_blocks", e.occupancy.by_blocks);
  w.end_object();
  w.key("waves");
  w.begin_object();
  w.member("tiles", e.waves.tiles);
  w.member("waves", e.waves.waves);
  w.member("fraction", e.waves.fraction);
  w.member("efficiency", e.waves.efficiency);
  w.end_object();
  w.member("busy", e.busy);
  w.member("padding_efficiency", e.padding_efficiency);
}

void write_alternatives(JsonWriter& w, std::string_view name,
                        const std::vector<Alternative>& alternatives) {
  w.key(name);
  w.begin_array();
  for (const Alternative& a : alternatives) {
    w.begin_object(kLine);
    w.member("what", a.what);
    w.member("time_us", a.time_us);
    w.member("limiter", a.limiter);
    w.end_object();
  }
  w.end_array();
}

}  // namespace

void write_report(JsonWriter& w, const Report& r) {
  const Estimate& e = r.estimate;
  w.member("m", r.problem.m);
  w.member("n", r.problem.n);
  w.member("k", r.problem.k);
  w.member("batch", r.problem.batch);
  w.member("dtype", to_string(r.problem.type_a));
  w.member("compute", to_string(r.problem.compute));
  w.member("machine", r.machine.name);
  w.member("chosen", r.chosen);
  w.key("schedule");
  write_schedule(w, r.schedule);
  known(w, "time_us", e.time_us);
  known(w, "tflops", e.tflops);
  known(w, "share_of_peak", e.peak_tflops > 0 ? e.tflops / e.peak_tflops : 0);
  w.member("limiter", e.limiter);
  w.member("limiter_sentence", r.limiter);
  w.member("remedy", r.remedy);
  w.member("arithmetic", to_string(e.arithmetic));
  w.member("peak", e.peak.peak);
  known(w, "peak_tflops", e.peak_tflops);
  known(w, "ridge", e.ridge);
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
  write_levels(w, "levels", e.levels, true);
  write_levels(w, "memories", e.memories, false);
  known(w, "dram_bound_bytes", e.dram_bound_bytes);
  write_rows(w, e.traffic);
  write_epilogue_cost(w, r.problem);
  if (r.machine.device == Device::gpu) write_block(w, e);
  write_alternatives(w, "schedules", r.schedules);
  w.key("refused");
  w.begin_array();
  for (const Refusal& refusal : r.refused) {
    w.begin_object(kLine);
    w.member("what", refusal.what);
    w.member("why", refusal.why);
    w.end_object();
  }
  w.end_array();
  write_alternatives(w, "changes", r.changes);
  w.key("notes");
  w.begin_array();
  for (const std::string& note : e.notes) w.value(note);
  w.end_array();
}

}  // namespace tilewise
