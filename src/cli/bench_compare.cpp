#include "cli/bench_compare.h"

#include <fmt/format.h>

#include "cli/environment.h"
#include "io/file_bytes.h"
#include "io/json_writer.h"
#include "io/text_table.h"
#include "io/wording.h"
#include "report/bench_compare.h"

namespace tilewise::cli {
namespace {

constexpr std::size_t kDocumentBytes = 64 << 20;

Result<BenchDocument> read_document(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kDocumentBytes);
  if (!text) return std::unexpected(text.error());
  Result<BenchDocument> document = parse_bench(*text);
  if (!document) {
    return bad_request(fmt::format("{}: {}", in_quotes(path), document.error().message));
  }
  return document;
}

std::string as_text(const Comparison& comparison) {
  TextTable table({{"name", TextTable::Align::left},
                   {"dtype", TextTable::Align::left},
                   {"before us"},
                   {"after us"},
                   {"change"},
                   {"", TextTable::Align::left}});
  for (const ComparedRow& row : comparison.rows) {
    const std::string_view word = row.change == Change::same ? "" : to_string(row.change);
    table.add_row({row.before.name, row.before.dtype, fmt::format("{:.1f}", row.before.time_us),
                   fmt::format("{:.1f}", row.after.time_us),
                   fmt::format("{:+.1f} %", 100 * (row.ratio - 1)), std::string(word)});
  }
  return table.text() +
         fmt::format("\n  time, geometric mean: {:+.1f} %\n", 100 * (comparison.geomean_ratio - 1));
}

void write_row(JsonWriter& w, const ComparedRow& row) {
  w.begin_object(JsonWriter::Layout::line);
  w.member("suite", row.before.suite);
  w.member("name", row.before.name);
  w.member("dtype", row.before.dtype);
  w.member("layout", row.before.layout);
  w.member("before_us", row.before.time_us);
  w.member("after_us", row.after.time_us);
  w.member("ratio", row.ratio);
  w.member("change", to_string(row.change));
  w.end_object();
}

void write_names(JsonWriter& w, std::string_view key, const std::vector<std::string>& names) {
  w.key(key);
  w.begin_array(JsonWriter::Layout::line);
  for (const std::string& name : names) w.value(name);
  w.end_array();
}

std::string as_json(const Comparison& comparison, double threshold,
                    const std::vector<std::string>& paths, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.compare/1", console, fmt::format("{}, {}", paths[0], paths[1]));
  w.member("threshold", threshold);
  w.member("regression", comparison.has_regression());
  w.member("geomean_ratio", comparison.geomean_ratio);
  w.key("rows");
  w.begin_array();
  for (const ComparedRow& row : comparison.rows) write_row(w, row);
  w.end_array();
  write_names(w, "only_before", comparison.only_before);
  write_names(w, "only_after", comparison.only_after);
  w.end_object();
  return std::move(w).finish();
}

void warn(const BenchDocument& before, const BenchDocument& after, const Comparison& comparison,
          const Console& console) {
  if (before.machine != after.machine) {
    console.say(fmt::format("tilewise bench: measured on different machines: {} and {}\n",
                            in_quotes(before.machine), in_quotes(after.machine)));
  }
  const std::size_t unmatched = comparison.only_before.size() + comparison.only_after.size();
  if (unmatched > 0) {
    console.say(fmt::format("tilewise bench: {} rows have no partner\n", unmatched));
  }
}

}  // namespace

Result<ExitCode> compare_documents(const std::vector<std::string>& paths, double threshold,
                                   bool json, const Console& console) {
  if (paths.size() != 2) {
    return bad_request(
        fmt::format("compare takes two documents, BEFORE.json AFTER.json; {} {} given",
                    paths.size(), paths.size() == 1 ? "is" : "are"));
  }
  const Result<BenchDocument> before = read_document(paths[0]);
  if (!before) return std::unexpected(before.error());
  const Result<BenchDocument> after = read_document(paths[1]);
  if (!after) return std::unexpected(after.error());
  const Result<Comparison> comparison = compare(*before, *after, threshold);
  if (!comparison) return std::unexpected(comparison.error());
  warn(*before, *after, *comparison, console);
  console.print(json ? as_json(*comparison, threshold, paths, console) : as_text(*comparison));
  return comparison->has_regression() ? ExitCode::regression : ExitCode::success;
}

}  // namespace tilewise::cli
