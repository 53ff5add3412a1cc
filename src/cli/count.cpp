// tilewise count: reads by level in closed form.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/count_units.h"
#include "cli/environment.h"
#include "cli/level_table.h"
#include "cli/tiling_options.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/text_table.h"
#include "report/epilogue_traffic.h"
#include "tilewise/epilogue.h"
#include "tilewise/traffic.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> sizes;
  TilingOptions tiling;
  std::string element_bytes = "4";
  bool units = false;
  std::string dtype, layout;  // with units
  std::optional<std::string> epilogue;
  bool json = false;
};

struct Counted {
  Problem problem;
  Schedule schedule;
  CountReport report;
};

Result<Type> type_of_bytes(const std::string& text) {
  for (const Type type : {Type::f8e4m3, Type::bf16, Type::f32, Type::f64}) {
    if (text == fmt::to_string(size_bytes(type))) return type;
  }
  const Result<std::int64_t> number = parse_integer("--element-bytes", text, 1, 8);
  if (!number) return std::unexpected(number.error());
  return bad_request(fmt::format("--element-bytes is {}; valid are 1, 2, 4 and 8", *number));
}

Result<Counted> count_request(const Options& options) {
  const Result<Sizes> sizes = parse_sizes(options.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  const Result<Type> type = type_of_bytes(options.element_bytes);
  if (!type) return std::unexpected(type.error());
  Counted counted;
  counted.problem = make_problem(sizes->m, sizes->n, sizes->k, *type);
  if (options.epilogue) {
    const Result<Epilogue> epilogue = parse_epilogue(*options.epilogue);
    if (!epilogue) return bad_request(fmt::format("--epilogue: {}", epilogue.error().message));
    counted.problem.epilogue = *epilogue;
    set_contiguous_operands(counted.problem.epilogue, sizes->m, sizes->n);
    for (EpilogueOperand& operand : counted.problem.epilogue.operands) operand.type = *type;
  }
  Result<Schedule> schedule = schedule_of(options.tiling, "naive");
  if (!schedule) return std::unexpected(schedule.error());
  counted.schedule = std::move(*schedule);
  Result<CountReport> report = count_levels(counted.problem, counted.schedule);
  if (!report) return std::unexpected(report.error());
  counted.report = std::move(*report);
  return counted;
}

std::string as_json(const Counted& counted, const Console& console) {
  const CountReport& report = counted.report;
  JsonWriter w;
  begin_document(w, "tilewise.count/1", console, "none");
  w.member("m", counted.problem.m);
  w.member("n", counted.problem.n);
  w.member("k", counted.problem.k);
  w.member("element_bytes", size_bytes(counted.problem.type_a));
  w.key("schedule");
  counted.schedule.name.empty() ? w.null() : w.value(counted.schedule.name);
  w.member("naive", report.naive);
  w.member("tiled", report.tiled);
  w.member("minimum", report.minimum);
  w.member("flops", report.flops);
  w.member("phases", report.phases);
  w.member("blocks", report.blocks);
  write_levels(w, report);
  write_epilogue_cost(w, counted.problem);
  w.end_object();
  return std::move(w).finish();
}

std::string as_text(const Counted& counted) {
  const CountReport& report = counted.report;
  const Problem& problem = counted.problem;
  const double bytes = size_bytes(problem.type_a);
  std::string text =
      fmt::format("C[{0},{1}] = A[{0},{2}] B[{2},{1}], {3} bytes an element, {4}\n\n", problem.m,
                  problem.n, problem.k, bytes, describe_tiles(counted.schedule));
  TextTable totals({{"reads", TextTable::Align::left}, {"elements"}, {"bytes"}});
  const auto add_total = [&](std::string name, Count reads) {
    totals.add_row({std::move(name), grouped_digits(reads.to_string()),
                    readable_bytes(reads.to_double() * bytes)});
  };
  add_total("naive", report.naive);
  add_total("tiled", report.tiled);
  add_total("minimum", report.minimum);
  return text + totals.text() + '\n' + level_table(counted.schedule, report) +
         epilogue_cost_text(problem);
}

Result<std::string> count_in_units(const Options& options, const Console& console) {
  if (!options.tiling.schedule) {
    return bad_request("--units counts a kernel of the GPU ladder; name one by --schedule");
  }
  Result<Schedule> schedule = schedule_of(options.tiling, "");
  if (!schedule) return std::unexpected(schedule.error());
  return units_report(
      {options.sizes, std::move(*schedule), options.dtype, options.layout, options.json}, console);
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K").type_name("M N K");
  add_tiling_options(line, options->tiling);
  line.add_option("--element-bytes", options->element_bytes, "bytes an element: 1, 2, 4 or 8");
  line.add_option("--epilogue", options->epilogue, "also what this expression adds, and unfused")
      .type_name("EXPR");
  line.add_flag("--units", options->units,
                "of a GPU schedule: issued instructions, sectors and wavefronts");
  line.add_option("--dtype", options->dtype, "with --units: f32, bf16, f16, f8e4m3");
  line.add_option("--layout", options->layout, "with --units: nn, nt, tn or tt");
  line.add_flag("--json", options->json,
                "one JSON document (tilewise.count/1; with --units tilewise.traffic/1)");
  return [options](const Console& console) -> Result<ExitCode> {
    if (options->units && options->epilogue) {
      return bad_request("--epilogue adds to counts of elements; leave it or --units out");
    }
    if (options->units) {
      const Result<std::string> text = count_in_units(*options, console);
      if (!text) return std::unexpected(text.error());
      console.print(*text);
      return ExitCode::success;
    }
    if (!options->dtype.empty() || !options->layout.empty()) {
      return bad_request("--dtype and --layout go with --units; elements have --element-bytes");
    }
    const Result<Counted> counted = count_request(*options);
    if (!counted) return std::unexpected(counted.error());
    console.print(options->json ? as_json(*counted, console) : as_text(*counted));
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kCountVerb = {
    "count", "exact reads by level of a tiling, beside the naive product and the minimum",
    "  tilewise count 4096 4096 4096 --tile 128\n"
    "  tilewise count 4096 4096 4096 --tile block:128x128x8 --tile thread:8x8 --json\n"
    "  tilewise count 8192 8192 8192 --schedule wgmma_pipeline --element-bytes 2\n"
    "  tilewise count 4092 4092 4092 --schedule square_tile --units\n",
    declare};

}  // namespace tilewise::cli
