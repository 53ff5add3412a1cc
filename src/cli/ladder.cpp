// tilewise ladder: every rung of the GPU ladder, counted, checked and timed, beside cuBLAS.
#include <fmt/format.h>

#include <memory>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/ladder_text.h"
#include "cli/verb.h"
#include "io/json_writer.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> sizes;
  std::string type = "f32";
  std::string compute;
  std::string layout;
  std::string against;
  std::string epilogue;
  std::string device = "gpu";
  std::vector<std::string> schedules;
  std::string seed = "1";
  bool json = false;
  bool svg = false;
};

Result<Problem> problem_of(const Options& options) {
  const Result<Sizes> sizes = parse_sizes(options.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  const Result<Type> type = parse_type(options.type);
  if (!type) return std::unexpected(type.error());
  Problem problem = make_problem(sizes->m, sizes->n, sizes->k, *type);
  const bool is_f8 = size_bytes(*type) == 1;
  if (is_f8) problem.type_c = problem.type_d = Type::bf16;
  if (!options.compute.empty()) {
    const Result<Compute> compute = parse_compute(options.compute);
    if (!compute) return std::unexpected(compute.error());
    problem.compute = *compute;
  }
  if (auto ok = set_layout(problem, options.layout); !ok) return std::unexpected(ok.error());
  if (!options.epilogue.empty()) {
    const Result<Epilogue> epilogue = parse_epilogue(options.epilogue);
    if (!epilogue) return bad_request(fmt::format("--epilogue: {}", epilogue.error().message));
    problem.epilogue = *epilogue;
    set_contiguous_operands(problem.epilogue, problem.m, problem.n);
    for (EpilogueOperand& operand : problem.epilogue.operands) operand.type = problem.type_d;
  }
  if (auto ok = validate(problem); !ok) return std::unexpected(ok.error());
  return problem;
}

Result<LadderRequest> request_of(const Options& options) {
  if (options.device != "gpu") {
    return bad_request(
        fmt::format("--device is \"{}\"; the ladder is the GPU's: valid is gpu", options.device));
  }
  const Result<Problem> problem = problem_of(options);
  if (!problem) return std::unexpected(problem.error());
  LadderRequest request;
  request.problem = *problem;
  const Result<std::int64_t> seed = parse_integer("--seed", options.seed, 0, 1 << 30);
  if (!seed) return std::unexpected(seed.error());
  request.seed = static_cast<std::uint64_t>(*seed);
  if (!options.against.empty() && options.against != "cublaslt") {
    return bad_request(fmt::format("--against is \"{}\"; valid is cublaslt", options.against));
  }
  request.against_cublaslt = !options.against.empty();
  for (const std::string& name : options.schedules) {
    const Result<Schedule> schedule = load_schedule(name);
    if (!schedule) return std::unexpected(schedule.error());
    request.schedules.push_back(*schedule);
  }
  request.skip_refused = request.schedules.empty();
  if (request.schedules.empty()) {
    auto all = ladder_schedules(*problem);
    if (!all) return std::unexpected(all.error());
    request.schedules = std::move(*all);
  }
  return request;
}

void write_rival(JsonWriter& w, const gpu::RivalMeasurement& rival) {
  w.begin_object(JsonWriter::Layout::line);
  w.member("name", rival.name);
  w.member("version", rival.version);
  w.member("kernel", rival.kernel);
  w.member("time_us", rival.time.median_us);
  w.member("tflops", rival.tflops);
  w.end_object();
}

void write_resources(JsonWriter& w, const gpu::Measurement& m) {
  w.key("resources");
  w.begin_object(JsonWriter::Layout::line);
  w.member("registers", m.resources.registers);
  w.member("shared_bytes", m.resources.static_shared_bytes + m.launch.shared_bytes);
  w.member("threads", m.launch.threads);
  w.member("blocks_per_sm", m.blocks_per_sm);
  w.member("occupancy", m.occupancy);
  w.member("origin", gpu::to_string(m.origin));
  w.member("prepare_ms", m.prepare_ms);
  w.end_object();
}

void write_reads(JsonWriter& w, const CountReport& counted) {
  w.key("reads");
  w.begin_array(JsonWriter::Layout::line);
  for (const LevelCount& level : counted.levels) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("level", to_string(level.level));
    w.member("elements", level.reads);
    w.end_object();
  }
  w.end_array();
}

void write_row(JsonWriter& w, const Ladder& ladder, const LadderRow& row) {
  const Problem& p = ladder.problem;
  const gpu::Measurement& m = row.measured;
  w.begin_object();
  w.member("suite", "ladder");
  w.member("name", row.rung.empty() ? m.schedule.name : row.rung + " " + m.schedule.name);
  w.member("m", p.m);
  w.member("n", p.n);
  w.member("k", p.k);
  w.member("batch", p.batch);
  w.member("dtype", to_string(p.type_a));
  w.member("layout", layout_of(p));
  w.member("compute", to_string(p.compute));
  w.member("scale", to_string(p.scale));
  w.member("epilogue", print_epilogue(p.epilogue));
  w.member("schedule", m.schedule.name);
  w.member("device", "gpu");
  w.member("threads", 1);
  w.member("time_us", m.time.median_us);
  w.member("low_us", m.time.low_us);
  w.member("high_us", m.time.high_us);
  w.member("tflops", m.tflops);
  w.key("share_of_peak");
  row.share_of_peak > 0 ? w.value(row.share_of_peak) : w.null();
  w.key("wavefront_limit_tflops");
  row.wavefront_tflops > 0 ? w.value(row.wavefront_tflops) : w.null();
  w.member("verified", m.error.verified);
  w.member("max_error", m.error.max_error);
  w.member("error_bound", m.error.bound);
  w.key("power_w");
  m.state.power_w > 0 ? w.value(m.state.power_w) : w.null();
  w.key("clock_mhz");
  m.state.clock_mhz > 0 ? w.value(m.state.clock_mhz) : w.null();
  write_reads(w, row.counted);
  write_resources(w, m);
  w.key("rivals");
  w.begin_array();
  if (ladder.rival) write_rival(w, *ladder.rival);
  w.end_array();
  w.key("ratio");
  row.ratio > 0 ? w.value(row.ratio) : w.null();
  w.end_object();
}

std::string as_json(const Ladder& ladder, const Console& console, std::uint64_t seed) {
  JsonWriter w;
  begin_document(w, "tilewise.bench/1", console, fmt::format("normal, seed {}", seed),
                 {{"card", ladder.card.name},
                  {"driver", fmt::format("CUDA {}.{}", ladder.driver_version / 1000,
                                         ladder.driver_version % 1000 / 10)},
                  {"cuda", ladder.compiler},
                  {"clock_mhz", std::int64_t{ladder.card.clock_mhz}}});
  w.key("rows");
  w.begin_array();
  for (const LadderRow& row : ladder.rows) write_row(w, ladder, row);
  w.end_array();
  w.key("skipped");
  w.begin_array();
  for (const std::string& text : ladder.skipped) w.value(text);
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

Result<ExitCode> run(const Options& options, const Console& console) {
  const auto request = request_of(options);
  if (!request) return std::unexpected(request.error());
  const auto ladder = run_ladder(*request);
  if (!ladder) return std::unexpected(ladder.error());
  for (const std::string& text : ladder->skipped) console.say("skipped " + text + "\n");
  console.print(options.json  ? as_json(*ladder, console, request->seed)
                : options.svg ? ladder_svg(*ladder)
                              : ladder_table(*ladder));
  if (ladder->failed) return ExitCode::internal_error;
  for (const LadderRow& row : ladder->rows) {
    if (!row.measured.error.verified) return ExitCode::failed_verification;
  }
  return ExitCode::success;
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K").type_name("M N K");
  line.add_option("--dtype", options->type, "element type: f32, bf16, f16, f8e4m3").type_name("T");
  line.add_option("--compute", options->compute, "arithmetic: f32, tf32").type_name("C");
  line.add_option("--layout", options->layout,
                  "nn, nt, tn or tt: which operand is transposed in memory")
      .type_name("L");
  line.add_option("--device", options->device, "gpu, whose ladder it is").type_name("DEVICE");
  line.add_option("--epilogue", options->epilogue,
                  "an expression; what it reads gets random values. cuBLASLt is timed without it")
      .type_name("EXPR");
  line.add_option("--against", options->against,
                  "cublaslt: time NVIDIA's library on the same operands")
      .type_name("NAME");
  line.add_option("--schedule", options->schedules,
                  "only this named schedule or file.json; may be repeated")
      .type_name("NAME")
      .one_value_each_time();
  line.add_option("--seed", options->seed, "of the random operands").type_name("S");
  line.add_flag("--json", options->json, "one JSON document (tilewise.bench/1)");
  line.add_flag("--svg", options->svg, "a bar chart and the roofline");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

extern const Verb kLadderVerb = {
    "ladder", "the GPU kernels from naive to tensor cores: counted, checked, timed beside cuBLAS",
    "  tilewise ladder 4096 4096 4096 --against cublaslt\n"
    "  tilewise ladder 8192 8192 8192 --dtype bf16 --schedule wgmma_pipeline --json\n"
    "  tilewise ladder 4092 4092 4092 --svg > ladder.svg\n",
    declare};

}  // namespace tilewise::cli
