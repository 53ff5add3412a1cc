#include "cli/bench_table.h"

#include <fmt/format.h>

#include <utility>

#include "io/text_table.h"

namespace tilewise::cli {
namespace {

// What stands beside a row: the rival's time and the ratio, or the product without its epilogue.
std::vector<std::string> beside_cells(const BenchRow& row) {
  const auto cells = [&](double beside_us, double ratio) {
    return std::vector{fmt::format("{:.1f}", beside_us), fmt::format("{:.3f}", ratio)};
  };
  if (const auto ratio = ratio_of(row)) return cells(row.rivals[0].time_us, *ratio);
  if (row.without_epilogue_us) {
    return cells(*row.without_epilogue_us, row.time_us / *row.without_epilogue_us);
  }
  return {};
}

// What the last two columns are; empty where nothing stands beside the rows.
std::vector<std::string> beside_headings(const std::vector<BenchRow>& rows) {
  if (rows.empty()) return {};
  if (!rows[0].rivals.empty()) return {rows[0].rivals[0].name + " us", "ratio"};
  if (rows[0].without_epilogue_us) return {"without epilogue us", "cost"};
  return {};
}

std::string summary_text(const std::vector<BenchRow>& rows) {
  const BenchSummary summary = summarise(rows);
  if (summary.of == "ratio") {
    const BenchRival& rival = rows[0].rivals[0];
    return fmt::format(
        "\n  {} {}, kernels {}; its time over ours: geometric mean {:.3f}, least {:.3f} ({})\n",
        rival.name, rival.version, rival.kernel, summary.geomean, summary.worst,
        summary.worst_name);
  }
  return fmt::format("\n  share of peak: geometric mean {:.1f} %, least {:.1f} % ({})\n",
                     100 * summary.geomean, 100 * summary.worst, summary.worst_name);
}

}  // namespace

std::string bench_table(const std::vector<BenchRow>& rows) {
  std::vector<TextTable::Column> columns = {{"name", TextTable::Align::left},
                                            {"m"},
                                            {"n"},
                                            {"k"},
                                            {"batch"},
                                            {"time us"},
                                            {"low"},
                                            {"high"},
                                            {"GFLOP/s"},
                                            {"% of peak"},
                                            {"error"},
                                            {"checked", TextTable::Align::left}};
  for (const std::string& heading : beside_headings(rows)) columns.push_back({heading});
  TextTable table(columns);
  for (const BenchRow& row : rows) {
    const std::string_view checked = !row.verified ? "no" : *row.verified ? "right" : "WRONG";
    std::vector<std::string> cells = {row.name,
                                      fmt::to_string(row.m),
                                      fmt::to_string(row.n),
                                      fmt::to_string(row.k),
                                      fmt::to_string(row.batch),
                                      fmt::format("{:.1f}", row.time_us),
                                      fmt::format("{:.1f}", row.low_us),
                                      fmt::format("{:.1f}", row.high_us),
                                      fmt::format("{:.1f}", row.tflops * 1e3),
                                      fmt::format("{:.1f}", 100 * row.share_of_peak),
                                      fmt::format("{:.2g}", row.max_error),
                                      std::string(checked)};
    for (std::string& cell : beside_cells(row)) cells.push_back(std::move(cell));
    table.add_row(cells);
  }
  return table.text() + summary_text(rows);
}

}  // namespace tilewise::cli
