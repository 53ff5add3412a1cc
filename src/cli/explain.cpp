// tilewise explain: a product on a machine by a schedule, and everything that follows.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/output_file.h"
#include "report/card_peaks.h"
#include "report/find_any_machine.h"
#include "report/measure_host.h"
#include "report/report_json.h"
#include "tilewise/report.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> sizes;
  std::string dtype = "f32";
  std::string compute;
  std::string layout;
  std::string batch = "1";
  std::optional<std::string> machine, device;
  std::optional<std::string> schedule;
  std::optional<std::string> epilogue;
  std::optional<std::string> svg;
  bool measure = false;
  bool json = false;
};

Result<Problem> problem_of(const Options& options) {
  const Result<Sizes> sizes = parse_sizes(options.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  const Result<Type> type = parse_type(options.dtype);
  if (!type) return std::unexpected(type.error());
  const auto batch = parse_integer("--batch", options.batch, 1, std::int64_t{1} << 32);
  if (!batch) return std::unexpected(batch.error());
  Problem problem = make_problem(sizes->m, sizes->n, sizes->k, *type);
  if (size_bytes(*type) == 1) problem.type_c = problem.type_d = Type::bf16;
  if (!options.compute.empty()) {
    const Result<Compute> compute = parse_compute(options.compute);
    if (!compute) return std::unexpected(compute.error());
    problem.compute = *compute;
  }
  if (auto ok = set_layout(problem, options.layout); !ok) return std::unexpected(ok.error());
  if (auto ok = validate(problem); !ok) return std::unexpected(ok.error());
  if (*batch > 1) {
    problem.batch = *batch;
    problem.a.batch = problem.m * problem.k;
    problem.b.batch = problem.k * problem.n;
    problem.c.batch = problem.d.batch = problem.m * problem.n;
  }
  if (options.epilogue) {
    const Result<Epilogue> epilogue = parse_epilogue(*options.epilogue);
    if (!epilogue) return std::unexpected(epilogue.error());
    problem.epilogue = *epilogue;
    set_contiguous_operands(problem.epilogue, problem.m, problem.n);
  }
  return problem;
}

// The machine named, or that of a device of this one; an H200 where nothing is said.
Result<Machine> machine_of(const Options& options) {
  if (options.device) {
    if (*options.device != "cpu" && *options.device != "gpu") {
      return bad_request(fmt::format("--device is \"{}\"; valid are cpu and gpu", *options.device));
    }
    if (options.machine) {
      return bad_request(
          fmt::format("--device \"{}\" is of this machine, and --machine names "
                      "\"{}\"; leave one out",
                      *options.device, *options.machine));
    }
  }
  const bool host = options.device == "cpu" || options.machine == "host";
  if (options.measure) {
    if (host) return measured_host();
    return bad_request(fmt::format("--measure times this machine, \"host\"; --machine is \"{}\"",
                                   options.machine.value_or("h200")));
  }
  if (options.device == "gpu") return card_machine();
  return find_any_machine(host ? "host" : options.machine.value_or("h200"));
}

Result<void> write_svg(const std::string& path, const std::string& drawing) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(std::as_bytes(std::span(drawing))); !written) return written;
  return file->commit();
}

Result<ExitCode> run(const Options& options, const Console& console) {
  const Result<Problem> problem = problem_of(options);
  if (!problem) return std::unexpected(problem.error());
  const Result<Machine> machine = machine_of(options);
  if (!machine) return std::unexpected(machine.error());
  std::optional<Schedule> schedule;
  if (options.schedule) {
    Result<Schedule> loaded = load_schedule(*options.schedule);
    if (!loaded) return std::unexpected(loaded.error());
    schedule = std::move(*loaded);
  }
  const Result<Report> report = explain(*problem, schedule ? &*schedule : nullptr, *machine);
  if (!report) return std::unexpected(report.error());
  if (options.svg) {
    if (auto done = write_svg(*options.svg, report_svg(*report)); !done) {
      return std::unexpected(done.error());
    }
    if (*options.svg == "-") return ExitCode::success;
  }
  if (options.json) {
    JsonWriter w;
    begin_document(w, "tilewise.explain/1", console, "none");
    w.member("layout", layout_of(*problem));
    write_report(w, *report);
    w.end_object();
    console.print(std::move(w).finish());
  } else {
    console.print(report_text(*report));
  }
  return ExitCode::success;
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K").type_name("M N K");
  line.add_option("--dtype", options->dtype, "f64, f32, bf16, f16, f8e4m3 or f8e5m2");
  line.add_option("--compute", options->compute, "arithmetic of float32 operands: f32, tf32, ...");
  line.add_option("--layout", options->layout,
                  "nn, nt, tn or tt: which operand is transposed in memory; absent: nt for 8-bit "
                  "types, else nn")
      .type_name("L");
  line.add_option("--batch", options->batch, "matrices of A, B and C");
  line.add_option("--machine", options->machine,
                  "a name of `tilewise machines`; host is this CPU, h200 the default");
  line.add_option("--device", options->device, "cpu or gpu: that of this machine")
      .type_name("DEVICE");
  line.add_flag("--measure", options->measure,
                "with --machine host: time its peaks and bandwidths");
  line.add_option("--schedule", options->schedule,
                  "a named schedule or file.json; absent: the fastest by the estimate")
      .type_name("NAME");
  line.add_option("--epilogue", options->epilogue, "an expression, like \"relu(acc + bias[n])\"");
  line.add_option("--svg", options->svg, "write a drawing: roofline and tiles to scale")
      .type_name("FILE");
  line.add_flag("--json", options->json, "one JSON document (tilewise.explain/1)");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

extern const Verb kExplainVerb = {
    "explain", "traffic beside the bound, occupancy, waves, an estimate of time and what limits it",
    "  tilewise explain 4096 4096 4096 --dtype bf16 --machine h100\n"
    "  tilewise explain 4096 4096 4096 --machine h200 --schedule square_tile\n"
    "  tilewise explain 16 8192 8192 --dtype bf16 --machine a100 --json\n"
    "  tilewise explain 8192 8192 8192 --dtype bf16 --schedule wgmma_pipeline --svg - > "
    "roofline.svg\n",
    declare};

}  // namespace tilewise::cli
