#include "cli/count_units.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "io/json_writer.h"
#include "io/text_table.h"
#include "io/wording.h"
#include "schedule/bulk_copy.h"
#include "tilewise/units.h"

namespace tilewise::cli {
namespace {

// What the schedule's instructions multiply where nothing is said.
Type default_type(const Schedule& schedule) {
  if (schedule.kernel == "wgmma_fp8") return Type::f8e4m3;
  const bool tensor_cores = find_tile(schedule, Level::instruction) != nullptr;
  return tensor_cores && schedule.compute != Compute::tf32 ? Type::bf16 : Type::f32;
}

Result<Problem> problem_of(const UnitsRequest& request) {
  const Result<Sizes> sizes = parse_sizes(request.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  Type type = default_type(request.schedule);
  if (!request.dtype.empty()) {
    const Result<Type> named = parse_type(request.dtype);
    if (!named) return bad_request(fmt::format("--dtype: {}", named.error().message));
    type = *named;
  }
  Problem p = make_problem(sizes->m, sizes->n, sizes->k, type);
  p.compute = request.schedule.compute;
  if (size_bytes(type) == 1) p.type_c = p.type_d = Type::bf16;
  std::string_view layout = request.layout;
  if (layout.empty()) layout = default_operand_layout(request.schedule, type);
  if (auto set = set_layout(p, layout); !set) return std::unexpected(set.error());
  return p;
}

std::string as_json(const UnitsRequest& request, const Problem& p, const Traffic& traffic,
                    const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.traffic/1", console, "none");
  w.member("m", p.m);
  w.member("n", p.n);
  w.member("k", p.k);
  w.member("dtype", to_string(p.type_a));
  w.member("schedule", request.schedule.name);
  w.key("rows");
  w.begin_array();
  for (const TrafficRow& row : traffic.rows) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("level", row.level);
    w.member("operand", to_string(row.operand));
    w.member("direction", to_string(row.direction));
    w.member("quantity", to_string(row.quantity));
    w.member("unit", row.unit);
    w.member("counted", row.value);
    w.end_object();
  }
  w.end_array();
  w.key("not_counted");
  w.begin_array();
  for (const std::string& reason : traffic.not_counted) w.value(reason);
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

}  // namespace

Result<std::string> units_report(const UnitsRequest& request, const Console& console) {
  const Result<Problem> problem = problem_of(request);
  if (!problem) return std::unexpected(problem.error());
  const Result<Traffic> traffic = count_units(*problem, request.schedule);
  if (!traffic) return std::unexpected(traffic.error());
  if (request.json) return as_json(request, *problem, *traffic, console);
  TextTable table({{"level", TextTable::Align::left},
                   {"operand", TextTable::Align::left},
                   {"", TextTable::Align::left},
                   {"unit", TextTable::Align::left},
                   {"counted"}});
  for (const TrafficRow& row : traffic->rows) {
    table.add_row({row.level, std::string(to_string(row.operand)),
                   std::string(to_string(row.direction)), row.unit,
                   grouped_digits(row.value.to_string())});
  }
  std::string missing;
  for (const std::string& reason : traffic->not_counted)
    missing += "\nNot counted: " + reason + "\n";
  return fmt::format("{} x {} x {}, {}, schedule {}: {}\n\n", problem->m, problem->n, problem->k,
                     to_string(problem->type_a), request.schedule.name,
                     describe_tiles(request.schedule)) +
         table.text() + missing;
}

}  // namespace tilewise::cli
