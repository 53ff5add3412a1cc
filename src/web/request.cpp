#include "web/request.h"

#include "schedule/bulk_copy.h"
#include "schedule/nearest.h"
#include "web/schedule_query.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
constexpr std::int64_t kUsualSize = 4096;
constexpr std::string_view kUsualSchedule = "square_tile", kUsualMachine = "h200";

template <class Named>
Result<const Named*> find(const std::vector<Named>& all, std::string_view what,
                          std::string_view name, std::string_view usual) {
  if (all.empty()) return bad_request("no " + std::string(what) + " is known here");
  std::vector<std::string_view> names;
  for (const Named& item : all) {
    if (item.name == (name.empty() ? usual : name)) return &item;
    names.emplace_back(item.name);
  }
  if (name.empty()) return &all.front();
  return bad_request(unknown_name(what, name.substr(0, 60), names));
}

Result<Schedule> base_schedule(std::string_view name, const Library& library) {
  if (name == kCustomSchedule) return Schedule{};
  const auto named = find(library.schedules, "schedule", name, kUsualSchedule);
  if (!named) return std::unexpected(named.error());
  return **named;
}

Result<Problem> read_problem(const Query& query) {
  Type type = Type::f32;
  if (query.has("type")) {
    const auto parsed = parse_type(query.value("type").substr(0, 40));
    if (!parsed) return std::unexpected(parsed.error());
    type = *parsed;
  }
  const auto m = query.integer("m", 0, kLargestSize, kUsualSize);
  if (!m) return std::unexpected(m.error());
  const auto n = query.integer("n", 0, kLargestSize, kUsualSize);
  if (!n) return std::unexpected(n.error());
  const auto k = query.integer("k", 0, kLargestSize, kUsualSize);
  if (!k) return std::unexpected(k.error());
  return make_problem(*m, *n, *k, type);
}

// Which of A and B are transposed in memory. Left out: what the schedule runs with.
Result<std::string> set_operands(const Query& query, const Schedule& s, Problem& p) {
  std::string text(query.has("operands") ? query.value("operands")
                                         : default_operand_layout(s, p.type_a));
  if (!is_operand_layout(text)) {
    return bad_request("operands is \"" + text.substr(0, 40) + "\"; valid are nn, nt, tn and tt");
  }
  set_operand_layout(p, text);
  return text;
}

}  // namespace

Result<Request> parse_request(std::string_view text, const Library& library) {
  auto query = Query::parse(text);
  if (!query) return std::unexpected(query.error());
  Request request;
  request.query = std::move(*query);
  const auto problem = read_problem(request.query);
  if (!problem) return std::unexpected(problem.error());
  request.problem = *problem;
  const auto base = base_schedule(request.query.value("schedule"), library);
  if (!base) return std::unexpected(base.error());
  auto schedule = apply_schedule(request.query, *base);
  if (!schedule) return std::unexpected(schedule.error());
  request.schedule = std::move(*schedule);
  // The arithmetic is the schedule's: the page asks no problem for another.
  request.problem.compute =
      request.problem.type_a == Type::f64 ? Compute::f64 : request.schedule.compute;
  auto operands = set_operands(request.query, request.schedule, request.problem);
  if (!operands) return std::unexpected(operands.error());
  request.operands = std::move(*operands);
  const auto machine =
      find(library.machines, "machine", request.query.value("machine"), kUsualMachine);
  if (!machine) return std::unexpected(machine.error());
  request.machine = *machine;
  request.library = &library;
  return request;
}

Result<void> check_matrix_bytes(const Problem& p) {
  struct Matrix {
    const char* name;
    const char* rows;
    const char* columns;
    std::int64_t num_rows, num_columns;
    Type type;
  };
  for (const Matrix& x :
       {Matrix{"A", "m", "k", p.m, p.k, p.type_a}, Matrix{"B", "k", "n", p.k, p.n, p.type_b},
        Matrix{"C", "m", "n", p.m, p.n, p.type_d}}) {
    const Count bytes = Count(x.num_rows) * Count(x.num_columns) * Count(size_bytes(x.type));
    if (bytes <= Count(INT64_MAX)) continue;
    return bad_request(std::string(x.rows) + " is " + std::to_string(x.num_rows) + " and " +
                       x.columns + " is " + std::to_string(x.num_columns) + ", so that " + x.name +
                       " is larger than 2^63 - 1 bytes, which no address reaches; take smaller "
                       "sizes for a run or an estimate");
  }
  return {};
}

}  // namespace tilewise::web
