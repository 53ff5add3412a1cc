#include "io/bench_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/json_reader.h"

namespace tilewise {
namespace {

using nlohmann::json;

constexpr std::size_t kDocumentBytes = 64 << 20;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// Field for field, for writing and reading alike.
template <class Row, class Visit>
void visit_fields(Row& row, Visit visit) {
  visit("suite", row.suite);
  visit("name", row.name);
  visit("m", row.m);
  visit("n", row.n);
  visit("k", row.k);
  visit("batch", row.batch);
  visit("dtype", row.dtype);
  visit("layout", row.layout);
  visit("compute", row.compute);
  visit("scale", row.scale);
  visit("epilogue", row.epilogue);
  visit("schedule", row.schedule);
  visit("device", row.device);
  visit("threads", row.threads);
  visit("time_us", row.time_us);
  visit("low_us", row.low_us);
  visit("high_us", row.high_us);
  visit("tflops", row.tflops);
  visit("share_of_peak", row.share_of_peak);
  visit("verified", row.verified);
  visit("max_error", row.max_error);
  visit("error_bound", row.error_bound);
  visit("without_epilogue_us", row.without_epilogue_us);
  visit("power_w", row.power_w);
  visit("clock_mhz", row.clock_mhz);
}

// A member that is absent or null keeps its default.
class RowReader {
 public:
  RowReader(ObjectReader& reader, const json& value) : reader_(reader), value_(value) {}

  void operator()(std::string_view name, std::string& text) {
    if (present(name)) text = reader_.string(name, text);
  }
  void operator()(std::string_view name, std::int64_t& number) {
    if (present(name)) number = reader_.integer(name, 0, kLargest, number);
  }
  void operator()(std::string_view name, double& number) {
    if (present(name)) number = reader_.number(name, number);
  }
  void operator()(std::string_view name, std::optional<double>& number) {
    if (present(name)) number = reader_.number(name, 0);
  }
  void operator()(std::string_view name, std::optional<bool>& truth) {
    if (present(name)) truth = reader_.boolean(name, false);
  }

 private:
  bool present(std::string_view name) const {
    const auto member = value_.find(name);
    return member != value_.end() && !member->is_null();
  }
  ObjectReader& reader_;
  const json& value_;
};

Result<BenchRow> read_row(const json& value, std::string path) {
  ObjectReader reader(value, std::move(path));
  BenchRow row;
  if (!reader.failed()) visit_fields(row, RowReader(reader, value));
  reader.require("name");
  if (!(row.time_us > 0) || !std::isfinite(row.time_us)) {
    reader.fail("time_us", "it must be more than 0");
  }
  if (reader.failed()) return std::unexpected(reader.finish().error());
  return row;
}

std::string machine_of(const json& document) {
  const auto environment = document.find("environment");
  if (environment == document.end() || !environment->is_object()) return "";
  for (const char* name : {"card", "cpu"}) {
    const auto member = environment->find(name);
    if (member != environment->end() && member->is_string()) return member->get<std::string>();
  }
  return "";
}

bool computes(const BenchRow& row) { return row.m > 0 && row.n > 0 && row.k > 0 && row.batch > 0; }

void write_rivals(JsonWriter& w, const BenchRow& row) {
  w.key("rivals");
  w.begin_array();
  for (const BenchRival& rival : row.rivals) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("name", rival.name);
    w.member("version", rival.version);
    w.member("kernel", rival.kernel);
    w.member("time_us", rival.time_us);
    w.member("tflops", rival.tflops);
    w.end_object();
  }
  w.end_array();
  w.key("ratio");
  const std::optional<double> ratio = ratio_of(row);
  ratio ? w.value(*ratio) : w.null();
}

}  // namespace

std::optional<double> ratio_of(const BenchRow& row) {
  double fastest_us = std::numeric_limits<double>::infinity();
  for (const BenchRival& rival : row.rivals) fastest_us = std::min(fastest_us, rival.time_us);
  if (row.rivals.empty() || !(row.time_us > 0)) return std::nullopt;
  return fastest_us / row.time_us;
}

BenchSummary summarise(const std::vector<BenchRow>& rows) {
  BenchSummary summary;
  const bool beside_rivals = std::ranges::all_of(
      rows, [](const BenchRow& row) { return !computes(row) || ratio_of(row).has_value(); });
  if (beside_rivals && std::ranges::any_of(rows, computes)) summary.of = "ratio";
  double logarithms = 0;
  std::size_t counted = 0;
  for (const BenchRow& row : rows) {
    if (!computes(row)) continue;
    const std::optional<double> ratio = ratio_of(row);
    const double figure = beside_rivals && ratio ? *ratio : row.share_of_peak;
    ++counted;
    logarithms += std::log(figure);
    if (summary.worst_name.empty() || figure < summary.worst) {
      summary.worst = figure;
      summary.worst_name = row.name;
    }
  }
  if (counted > 0) summary.geomean = std::exp(logarithms / static_cast<double>(counted));
  return summary;
}

void write_bench_rows(JsonWriter& w, const std::vector<BenchRow>& rows) {
  w.key("rows");
  w.begin_array();
  for (const BenchRow& row : rows) {
    w.begin_object(JsonWriter::Layout::line);
    visit_fields(row, [&](std::string_view name, const auto& item) {
      w.key(name);
      if constexpr (requires { item.has_value(); }) {
        item.has_value() ? w.value(*item) : w.null();
      } else {
        w.value(item);
      }
    });
    write_rivals(w, row);
    w.end_object();
  }
  w.end_array();
  const BenchSummary summary = summarise(rows);
  w.key("summary");
  w.begin_object(JsonWriter::Layout::line);
  w.member("of", summary.of);
  w.member("geomean", summary.geomean);
  w.member("worst", summary.worst);
  w.member("worst_name", summary.worst_name);
  w.end_object();
}

Result<BenchDocument> parse_bench(std::string_view text) {
  const Result<json> document = parse_json(text, "the document", {.bytes = kDocumentBytes});
  if (!document) return std::unexpected(document.error());
  ObjectReader reader(*document, "the document");
  if (reader.string("schema") != "tilewise.bench/1") {
    reader.fail("schema", "it must be \"tilewise.bench/1\"");
  }
  const json* rows = reader.array("rows");
  if (rows == nullptr) {
    reader.require("rows");
    return std::unexpected(reader.finish().error());
  }
  BenchDocument result;
  result.machine = machine_of(*document);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Result<BenchRow> row = read_row((*rows)[i], fmt::format("rows[{}]", i));
    if (!row) return std::unexpected(row.error());
    result.rows.push_back(std::move(*row));
  }
  return result;
}

}  // namespace tilewise
