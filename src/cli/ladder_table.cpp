#include <fmt/format.h>

#include <algorithm>

#include "cli/ladder_text.h"
#include "io/text_table.h"

namespace tilewise::cli {
namespace {

std::string percent(double share) { return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-"; }

std::string time_text(double us) {
  return us >= 10000 ? fmt::format("{:.2f} ms", us / 1000) : fmt::format("{:.1f} us", us);
}

// Reads that enter a level, in elements: 137.4 G.
std::string elements(double count) {
  for (const auto& [unit, size] : {std::pair{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}}) {
    if (count >= size) return fmt::format("{:.4g} {}", count / size, unit);
  }
  return fmt::format("{:.0f}", count);
}

// Of the outermost level, and of the innermost where there is one below it.
std::string reads_text(const CountReport& counted, bool outermost) {
  if (counted.levels.empty() || (!outermost && counted.levels.size() < 2)) return "-";
  return elements((outermost ? counted.levels.front() : counted.levels.back()).reads.to_double());
}

}  // namespace

std::string ladder_table(const Ladder& ladder) {
  const Problem& p = ladder.problem;
  std::string text = fmt::format(
      "C[{0},{1}] = A[{0},{2}] B[{2},{1}], {3}, compute {4}, on {5}; random normal data, {6} "
      "copies of "
      "the operands in turn\n\n",
      p.m, p.n, p.k, to_string(p.type_a), to_string(p.compute), ladder.card.name, ladder.copies);
  TextTable table({{"rung", TextTable::Align::left},
                   {"schedule", TextTable::Align::left},
                   {"global reads"},
                   {"inner reads"},
                   {"time"},
                   {"TFLOP/s"},
                   {"shared limit"},
                   {"of peak"},
                   {"of cuBLAS"},
                   {"error"},
                   {"bound"},
                   {"registers"},
                   {"shared"},
                   {"occupancy"}});
  for (const LadderRow& row : ladder.rows) {
    const gpu::Measurement& m = row.measured;
    table.add_row({row.rung, m.schedule.name, reads_text(row.counted, true),
                   reads_text(row.counted, false), time_text(m.time.median_us),
                   fmt::format("{:.2f}", m.tflops),
                   row.wavefront_tflops > 0 ? fmt::format("{:.4g}", row.wavefront_tflops) : "-",
                   percent(row.share_of_peak), percent(row.ratio),
                   fmt::format("{:.2g}{}", m.error.max_error, m.error.verified ? "" : " WRONG"),
                   fmt::format("{:.2g}", m.error.bound), fmt::to_string(m.resources.registers),
                   fmt::to_string(m.resources.static_shared_bytes + m.launch.shared_bytes),
                   percent(m.occupancy)});
  }
  if (ladder.rival) {
    table.add_row({"", ladder.rival->name + " " + ladder.rival->version, "-", "-",
                   time_text(ladder.rival->time.median_us),
                   fmt::format("{:.2f}", ladder.rival->tflops), "-",
                   percent(ladder.peak_tflops > 0 ? ladder.rival->tflops / ladder.peak_tflops : 0),
                   "100 %", fmt::format("{:.2g}", ladder.rival->error.max_error),
                   fmt::format("{:.2g}", ladder.rival->error.bound), "-", "-", "-"});
  }
  text += table.text();
  const auto is_limited = [](const LadderRow& row) { return row.wavefront_tflops > 0; };
  if (std::ranges::any_of(ladder.rows, is_limited)) {
    text += fmt::format(
        "\n  shared limit: TFLOP/s at one wavefront of shared memory a cycle, {} SMs, {} MHz\n",
        ladder.card.num_sms, ladder.card.clock_mhz);
  }
  if (ladder.peak_tflops > 0) {
    text += fmt::format("\n  peak: {:.4g} TFLOP/s ({})\n", ladder.peak_tflops, ladder.peak_source);
  }
  return text;
}

}  // namespace tilewise::cli
