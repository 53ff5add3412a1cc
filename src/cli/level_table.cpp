#include "cli/level_table.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "io/text_table.h"

namespace tilewise::cli {
namespace {

void write_level(JsonWriter& w, const LevelCount& level) {
  w.begin_object(JsonWriter::Layout::line);
  w.member("level", to_string(level.level));
  w.member("m", level.m);
  w.member("n", level.n);
  w.member("k", level.k);
  w.member("reads_a", level.reads_a);
  w.member("reads_b", level.reads_b);
  w.member("reads", level.reads);
  w.member("reuse_a", level.reuse_a);
  w.member("reuse_b", level.reuse_b);
  w.member("intensity", level.intensity);
  w.end_object();
}

}  // namespace

void write_levels(JsonWriter& w, const CountReport& report) {
  w.key("levels");
  w.begin_array();
  for (const LevelCount& level : report.levels) write_level(w, level);
  w.end_array();
}

std::string level_table(const Schedule& schedule, const CountReport& report) {
  TextTable table({{"level", TextTable::Align::left},
                   {"tile", TextTable::Align::left},
                   {"reads from", TextTable::Align::left},
                   {"reads of A"},
                   {"reads of B"},
                   {"reuse A"},
                   {"reuse B"},
                   {"FLOP/byte"}});
  for (std::size_t i = 0; i < report.levels.size(); ++i) {
    const LevelCount& level = report.levels[i];
    table.add_row({std::string(to_string(level.level)), extents(level.m, level.n, level.k),
                   std::string(reads_from(schedule, i)), grouped_digits(level.reads_a.to_string()),
                   grouped_digits(level.reads_b.to_string()), fmt::format("{:.4g}", level.reuse_a),
                   fmt::format("{:.4g}", level.reuse_b), fmt::format("{:.4g}", level.intensity)});
  }
  return table.text();
}

}  // namespace tilewise::cli
