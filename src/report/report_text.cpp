#include <fmt/format.h>

#include "io/text_table.h"
#include "report/epilogue_traffic.h"
#include "tilewise/report.h"

namespace tilewise {
namespace {

constexpr auto kLeft = TextTable::Align::left;
constexpr std::size_t kMostAlternatives = 5;

std::string significant(double value) { return value > 0 ? fmt::format("{:.4g}", value) : "-"; }

std::string ratio(double value, double bound) {
  return bound > 0 ? fmt::format("{:.2f}", value / bound) : "-";
}

std::string levels_text(const Report& r) {
  TextTable table({{"level", kLeft},
                   {"tile", kLeft},
                   {"reads from", kLeft},
                   {"elements"},
                   {"bytes"},
                   {"bound"},
                   {"over it"},
                   {"FLOP/byte"},
                   {"ridge"}});
  for (const LevelEstimate& l : r.estimate.levels) {
    table.add_row({l.level, fmt::format("{}x{}x{}", l.m, l.n, l.k), l.memory,
                   grouped_digits(l.reads.to_string()), readable_bytes(l.bytes),
                   l.bound_bytes > 0 ? readable_bytes(l.bound_bytes) : "-",
                   ratio(l.bytes, l.bound_bytes), significant(l.intensity), significant(l.ridge)});
  }
  for (const LevelEstimate& l : r.estimate.memories) {
    const bool dram = l.level == "dram";
    const double bound = dram ? r.estimate.dram_bound_bytes : 0;
    table.add_row({l.level, "", dram ? "A, B, D" : "A, B", "", readable_bytes(l.bytes),
                   bound > 0 ? readable_bytes(bound) : "-", ratio(l.bytes, bound),
                   significant(l.intensity), significant(l.ridge)});
  }
  return table.text();
}

std::string units_text(const Report& r) {
  TextTable table(
      {{"quantity", kLeft}, {"level", kLeft}, {"operand", kLeft}, {"count"}, {"unit", kLeft}});
  for (const TrafficRow& row : r.estimate.traffic.rows) {
    if (row.quantity == Quantity::elements && row.direction == Direction::read &&
        (row.operand == Operand::a || row.operand == Operand::b)) {
      continue;  // in the table of levels
    }
    const bool both = row.unit.ends_with(", A and B");
    table.add_row({std::string(to_string(row.quantity)), row.level,
                   both ? "a, b" : std::string(to_string(row.operand)),
                   grouped_digits(row.value.to_string()),
                   both ? row.unit.substr(0, row.unit.find(',')) : row.unit});
  }
  return table.text();
}

std::string block_text(const Report& r) {
  const Estimate& e = r.estimate;
  const Footprint& f = e.footprint;
  std::string text = fmt::format(
      "  block      {}x{}x{}, {} threads, {} registers a thread, {} bytes of shared memory\n"
      "             {} (an estimate)\n"
      "  intensity  {:.4g} FLOP a byte of a block; the ridge against DRAM is {}\n"
      "  occupancy  {} block{} an SM, {:.1f} % of its warps; limited by {}\n"
      "  waves      {} blocks, {:.3f} -> {} waves, efficiency {:.4f}; {:.4f} of the SMs' time is "
      "busy\n"
      "  padding    {:.4f} of the products are useful\n",
      f.block_m, f.block_n, f.block_k, f.block.threads, f.block.registers_per_thread,
      f.block.shared_bytes, f.formula, e.block_intensity, significant(e.ridge),
      e.occupancy.blocks_per_sm, e.occupancy.blocks_per_sm == 1 ? "" : "s",
      100 * e.occupancy.occupancy, e.occupancy.limiter, grouped_digits(e.waves.tiles.to_string()),
      e.waves.fraction, e.waves.waves.to_string(), e.waves.efficiency, e.busy,
      e.padding_efficiency);
  return text;
}

std::string terms_text(const Report& r) {
  TextTable table({{"term", kLeft}, {"us"}, {"how", kLeft}});
  for (const TimeTerm& term : r.estimate.terms) {
    table.add_row({term.name, fmt::format("{:.4g}", term.time_us), term.how});
  }
  return table.text();
}

std::string alternatives_text(const std::vector<Alternative>& alternatives) {
  TextTable table({{"", kLeft}, {"us"}, {"limited by", kLeft}});
  for (std::size_t i = 0; i < std::min(alternatives.size(), kMostAlternatives); ++i) {
    const Alternative& a = alternatives[i];
    table.add_row({a.what, significant(a.time_us), a.limiter});
  }
  return table.text();
}

}  // namespace

std::string report_text(const Report& r) {
  const Problem& p = r.problem;
  const Estimate& e = r.estimate;
  std::string text = fmt::format(
      "C[{0},{1}] = A[{0},{2}] B[{2},{1}]{3}, {4}, compute {5}, on {6} by schedule {7}{8}\n\n", p.m,
      p.n, p.k, p.batch == 1 ? "" : fmt::format(", batch {}", p.batch), to_string(p.type_a),
      to_string(p.compute), r.machine.title.empty() ? r.machine.name : r.machine.title,
      r.schedule.name.empty() ? "(yours)" : r.schedule.name, r.chosen ? " (chosen)" : "");
  text += levels_text(r) + '\n' + units_text(r) + epilogue_cost_text(p);
  if (r.machine.device == Device::gpu) text += '\n' + block_text(r);
  if (!e.terms.empty()) {
    text += '\n' + terms_text(r);
    text += fmt::format("  estimate {:.4g} us, {:.4g} TFLOP/s", e.time_us, e.tflops);
    if (e.peak_tflops > 0) {
      text += fmt::format(", {:.1f} % of the {} peak of {:.5g}", 100 * e.tflops / e.peak_tflops,
                          e.peak.peak, e.peak_tflops);
    }
    text += "; the terms overlap, so the largest is the time\n";
  }
  text += '\n' + r.limiter + '\n';
  if (!r.remedy.empty()) text += r.remedy + '\n';
  if (!r.changes.empty()) text += "\nchanges of this schedule\n" + alternatives_text(r.changes);
  if (!r.schedules.empty()) text += "\nnamed schedules\n" + alternatives_text(r.schedules);
  if (!r.refused.empty()) text += "\nnot as it is\n";
  for (const Refusal& refusal : r.refused) {
    text += fmt::format("  {}: {}\n", refusal.what, refusal.why);
  }
  for (const std::string& note : e.notes) text += "note: " + note + '\n';
  return text;
}

}  // namespace tilewise
