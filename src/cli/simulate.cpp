// tilewise simulate: the tiled loops executed with a counter on every read.
#include "tilewise/simulate.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/arguments.h"
#include "cli/barrier_report.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/progress_line.h"
#include "cli/tiling_options.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/matrix.h"
#include "io/text_table.h"
#include "io/wording.h"
#include "report/compensated_sum.h"
#include "report/normal_values.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> sizes;
  TilingOptions tiling;
  std::string dtype = "f32";
  std::string seed = "1";
  std::optional<std::string> without_barrier;
  bool json = false;
};

struct Request {
  Problem problem;
  Schedule schedule;
  std::int64_t seed = 1;
  MissingBarrier missing = MissingBarrier::none;
  Matrix a, b;  // f64, rounded to the problem's type
};

std::span<const double> values(const Matrix& matrix) {
  return {static_cast<const double*>(matrix.data),
          static_cast<std::size_t>(matrix.rows * matrix.columns)};
}

Result<MissingBarrier> parse_barrier(const std::optional<std::string>& text) {
  if (!text) return MissingBarrier::none;
  const Result<std::int64_t> number = parse_integer("--without-barrier", *text, 1, 2);
  if (!number) return std::unexpected(number.error());
  return *number == 1 ? MissingBarrier::after_load : MissingBarrier::after_use;
}

Result<Matrix> make_input(std::int64_t rows, std::int64_t columns, Type type, std::int64_t seed,
                          std::uint64_t stream, std::string_view what) {
  const auto rounded =
      normal_matrix(rows, columns, type, static_cast<std::uint64_t>(seed), stream, what);
  if (!rounded) return rounded;
  return converted(*rounded, Type::f64, what);
}

// The simulator's result is dense doubles; refused before anything is allocated.
Result<void> check_result_fits(const Sizes& sizes) {
  const Result<std::int64_t> bytes = matrix_bytes(sizes.m, sizes.n, Type::f64, "the result");
  if (!bytes) return std::unexpected(bytes.error());
  if (*bytes <= available_memory_bytes()) return {};
  return out_of_memory(
      fmt::format("the result takes {} bytes, and {} bytes of memory are free here", *bytes,
                  available_memory_bytes()));
}

Result<void> check_length(const Problem& problem, const Schedule& schedule) {
  const Result<CountReport> counted = count_levels(problem, schedule);
  if (!counted) return std::unexpected(counted.error());
  Count reads = 0;
  for (const LevelCount& level : counted->levels) reads += level.reads;
  constexpr std::int64_t kMostReads = std::int64_t{1} << 40;
  if (reads <= Count(kMostReads)) return {};
  return bad_request(
      fmt::format("M N K is {} {} {}: {} element reads to simulate, and at most 2^40 "
                  "are; tilewise count gives the same numbers at once",
                  problem.m, problem.n, problem.k, reads.to_string()));
}

Result<Request> read_request(const Options& options) {
  Request request;
  const Result<Sizes> sizes = parse_sizes(options.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  if (options.dtype != "f32" && options.dtype != "f64") {
    return bad_request(
        fmt::format("--dtype is {}; valid are f32 and f64", in_quotes(options.dtype)));
  }
  const Type type = options.dtype == "f64" ? Type::f64 : Type::f32;
  request.problem = make_problem(sizes->m, sizes->n, sizes->k, type);
  constexpr std::int64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();
  const Result<std::int64_t> seed = parse_integer("--seed", options.seed, 0, kLargestSeed);
  if (!seed) return std::unexpected(seed.error());
  request.seed = *seed;
  const Result<MissingBarrier> missing = parse_barrier(options.without_barrier);
  if (!missing) return std::unexpected(missing.error());
  request.missing = *missing;
  Result<Schedule> schedule = schedule_of(options.tiling, "shared_tile");
  if (!schedule) return std::unexpected(schedule.error());
  request.schedule = std::move(*schedule);

  if (const auto done = check_length(request.problem, request.schedule); !done) {
    return std::unexpected(done.error());
  }
  if (const auto done = check_result_fits(*sizes); !done) return std::unexpected(done.error());
  Result<Matrix> a = make_input(sizes->m, sizes->k, type, *seed, 0, "A");
  if (!a) return std::unexpected(a.error());
  Result<Matrix> b = make_input(sizes->k, sizes->n, type, *seed, 1, "B");
  if (!b) return std::unexpected(b.error());
  request.a = std::move(*a);
  request.b = std::move(*b);
  return request;
}

struct Accuracy {
  double max_error = 0;
  double error_bound = 0;  // of the element with the largest error
};

// Every element against a compensated sum in double. The bound is that of sums in any order.
Accuracy accuracy_of(const Request& request, std::span<const double> d) {
  const Problem& p = request.problem;
  const double unit = std::ldexp(1.0, -significand_bits(p.type_d));
  const double gamma = static_cast<double>(p.k) * unit / (1 - static_cast<double>(p.k) * unit);
  const double* a = values(request.a).data();
  const double* b = values(request.b).data();
  Accuracy worst;
  if (p.m == 0 || p.n == 0) return worst;
  std::vector<double> column(static_cast<std::size_t>(p.k));
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t k = 0; k < p.k; ++k) column[static_cast<std::size_t>(k)] = b[k * p.n + n];
    for (std::int64_t m = 0; m < p.m; ++m) {
      CompensatedSum sum;
      accumulate(sum, a + m * p.k, column.data(), p.k, p.type_a != Type::f64);
      const double error = std::fabs(d[static_cast<std::size_t>(m * p.n + n)] - sum.value());
      if (error > worst.max_error || std::isnan(error)) {
        worst = {error, gamma * sum.magnitude()};
      }
    }
  }
  return worst;
}

// Whether the counters are the closed form, at every level.
bool equals_closed_form(const Simulation& simulation, const CountReport& counted) {
  if (simulation.levels.size() != counted.levels.size()) return false;
  if (simulation.phases != counted.phases) return false;
  if (Count(simulation.blocks) != counted.blocks) return false;
  for (std::size_t i = 0; i < counted.levels.size(); ++i) {
    const bool same = Count(simulation.levels[i].reads_a) == counted.levels[i].reads_a &&
                      Count(simulation.levels[i].reads_b) == counted.levels[i].reads_b;
    if (!same) return false;
  }
  return Count(simulation.global_reads) == counted.tiled;
}

std::string simulation_json(const Request& request, const Simulation& simulation, bool equal,
                            const Accuracy& accuracy, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.simulate/1", console, fmt::format("normal, seed {}", request.seed));
  w.member("m", request.problem.m);
  w.member("n", request.problem.n);
  w.member("k", request.problem.k);
  w.member("dtype", to_string(request.problem.type_a));
  w.member("tiles", describe_tiles(request.schedule));
  w.member("global_reads", simulation.global_reads);
  w.member("shared_reads", simulation.shared_reads);
  w.member("phases", simulation.phases);
  w.member("blocks", simulation.blocks);
  w.member("writes", simulation.writes);
  w.member("multiply_adds", simulation.multiply_adds);
  w.member("max_error", accuracy.max_error);
  w.member("error_bound", accuracy.error_bound);
  w.member("equals_count", equal);
  w.key("levels");
  w.begin_array();
  for (const SimulatedLevel& level : simulation.levels) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("level", to_string(level.level));
    w.member("reads_a", level.reads_a);
    w.member("reads_b", level.reads_b);
    w.end_object();
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

std::string simulation_text(const Request& request, const Simulation& simulation, bool equal,
                            const Accuracy& accuracy) {
  const auto digits = [](std::uint64_t x) { return grouped_digits(fmt::to_string(x)); };
  std::string text = fmt::format("{} x {} x {}, {}, {}\n\n", request.problem.m, request.problem.n,
                                 request.problem.k, to_string(request.problem.type_a),
                                 describe_tiles(request.schedule));
  TextTable table({{"counted one by one", TextTable::Align::left}, {""}});
  table.add_row({"global reads", digits(simulation.global_reads)});
  table.add_row({"shared reads", digits(simulation.shared_reads)});
  table.add_row({"multiply-adds", digits(simulation.multiply_adds)});
  table.add_row({"writes", digits(simulation.writes)});
  table.add_row({"blocks", fmt::to_string(simulation.blocks)});
  table.add_row({"phases of a block", fmt::to_string(simulation.phases)});
  text += table.text();
  text += fmt::format("\n  closed form: {}\n", equal ? "the same at every level" : "DIFFERENT");
  text += fmt::format("  max error:   {:.3g} (bound {:.3g} there)\n", accuracy.max_error,
                      accuracy.error_bound);
  return text;
}

struct Simulated {
  Simulation simulation;
  bool equal = false;  // to the closed form
  Accuracy accuracy;
};

Result<Simulated> simulate_and_check(const Request& request, ProgressLine& progress) {
  Result<Simulation> simulation =
      simulate(request.problem, request.schedule, values(request.a), values(request.b));
  if (!simulation) return std::unexpected(simulation.error());
  const Result<CountReport> counted = count_levels(request.problem, request.schedule);
  if (!counted) return std::unexpected(counted.error());
  progress.set("checking", -1);
  const bool equal = equals_closed_form(*simulation, *counted);
  const Accuracy accuracy = accuracy_of(request, simulation->d);
  return Simulated{std::move(*simulation), equal, accuracy};
}

ExitCode report_simulation(const Request& request, const Simulated& simulated, bool json,
                           const Console& console) {
  const auto& [simulation, equal, accuracy] = simulated;
  console.print(json ? simulation_json(request, simulation, equal, accuracy, console)
                     : simulation_text(request, simulation, equal, accuracy));
  const bool right = equal && accuracy.max_error <= accuracy.error_bound;
  return right ? ExitCode::success : ExitCode::failed_verification;
}

Result<ExitCode> run(const Options& options, const Console& console) {
  std::optional<ProgressLine> progress(console.err);
  progress->set("simulating", -1);
  const Result<Request> request = read_request(options);
  if (!request) return std::unexpected(request.error());
  if (request->missing != MissingBarrier::none) {
    const Result<BarrierReport> report =
        simulate_barriers(request->problem, request->schedule, values(request->a),
                          values(request->b), request->missing);
    if (!report) return std::unexpected(report.error());
    progress.reset();
    const BarrierRun run{request->problem, request->schedule, request->missing, request->seed,
                         *report};
    console.print(options.json ? barrier_json(run, console) : barrier_text(run));
    return ExitCode::success;
  }
  const Result<Simulated> simulated = simulate_and_check(*request, *progress);
  if (!simulated) return std::unexpected(simulated.error());
  progress.reset();
  return report_simulation(*request, *simulated, options.json, console);
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K").type_name("M N K");
  add_tiling_options(line, options->tiling);
  line.add_option("--register-tile", options->tiling.register_tile, "the thread tile: t or MxN")
      .type_name("TILE");
  line.add_option("--without-barrier", options->without_barrier,
                  "leave out barrier 1 (after the load) or 2 (after the use)")
      .type_name("1|2");
  line.add_option("--dtype", options->dtype, "f32 (the default) or f64").type_name("TYPE");
  line.add_option("--seed", options->seed, "of the random inputs; 1 by default").type_name("N");
  line.add_flag("--json", options->json, "one JSON document (tilewise.simulate/1)");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

extern const Verb kSimulateVerb = {
    "simulate", "the tiled loops, executed with a counter on every read",
    "  tilewise simulate 100 100 100 --tile 32 --register-tile 8\n"
    "  tilewise simulate 130 70 33 --tile block:64x64x8 --tile thread:8x8 --json\n"
    "  tilewise simulate 64 64 64 --tile 16 --without-barrier 2\n",
    declare};

}  // namespace tilewise::cli
