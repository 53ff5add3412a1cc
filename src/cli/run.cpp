// tilewise run: a product of two files or of random matrices, timed, counted and checked.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/cpu_options.h"
#include "cli/product_inputs.h"
#include "cli/progress_line.h"
#include "cli/run_report.h"
#include "cli/shell_quote.h"
#include "cli/verb.h"
#include "io/npy.h"
#include "io/output_file.h"
#include "io/wording.h"
#include "report/gpu_findings.h"
#include "report/run_product.h"

namespace tilewise::cli {
namespace {

struct Options {
  ProductArguments product;
  std::optional<std::string> output;
  std::optional<std::string> schedule;
  CpuOptions cpu;
  std::optional<std::string> device;
  std::string seed = "1";
  std::string verify = "sample";
  bool json = false;
};

// What the options ask for, checked before any matrix is read.
struct Settings {
  std::optional<Schedule> schedule;
  std::optional<Device> device;
  PrepareOptions prepare;  // but for the device
  VerifyMode verify = VerifyMode::sample;
};

Result<void> read_device(const Options& options, Settings& settings) {
  if (!options.device) return {};
  if (*options.device != "cpu" && *options.device != "gpu") {
    return bad_request(
        fmt::format("--device is {}; valid are cpu and gpu", in_quotes(*options.device)));
  }
  settings.device = *options.device == "gpu" ? Device::gpu : Device::cpu;
  if (settings.device == Device::cpu) return {};
  if (auto ok = check_no_cpu_options(options.cpu); !ok) return ok;
  return require_gpu();
}

// Where nothing says which device: the GPU, if there is one that can.
Device choose_device(const Options& options, const Settings& settings, const Problem& problem,
                     const Console& console) {
  if (settings.device) return *settings.device;
  if (settings.schedule) return settings.schedule->device;
  if (options.cpu.any()) return Device::cpu;
  const Result<void> gpu = gpu_takes(problem);
  if (gpu) return Device::gpu;
  if (gpu.error().code == ErrorCode::bad_request) {
    console.say(fmt::format("tilewise run: on the CPU, since the GPU does not take it: {}\n",
                            gpu.error().message));
  }
  return Device::cpu;
}

Result<Settings> read_settings(Options& options) {
  Settings settings;
  constexpr std::int64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();
  const Result<std::int64_t> seed = parse_integer("--seed", options.seed, 0, kLargestSeed);
  if (!seed) return std::unexpected(seed.error());
  options.product.seed = static_cast<std::uint64_t>(*seed);
  if (const Result<void> ok = read_cpu_options(options.cpu, settings.prepare); !ok) {
    return std::unexpected(ok.error());
  }
  const Result<VerifyMode> verify = parse_verify_mode(options.verify);
  if (!verify) return bad_request(fmt::format("--verify: {}", verify.error().message));
  settings.verify = *verify;
  if (options.schedule) {
    Result<Schedule> schedule = load_schedule(*options.schedule);
    if (!schedule) return std::unexpected(schedule.error());
    settings.schedule = std::move(*schedule);
  }
  if (const Result<void> ok = read_device(options, settings); !ok) {
    return std::unexpected(ok.error());
  }
  if (options.output) {
    if (const Result<void> ok = check_output_path(*options.output); !ok) {
      return bad_request(fmt::format("-o: {}", ok.error().message));
    }
  }
  return settings;
}

Result<Matrix> make_result(const ProductInputs& inputs) {
  const Problem& p = inputs.problem;
  const Result<std::int64_t> bytes = matrix_bytes(p.m, p.n, p.type_d, "the result");
  if (!bytes) return std::unexpected(bytes.error());
  Result<std::shared_ptr<void>> data = allocate_bytes(*bytes, "the result");
  if (!data) return std::unexpected(data.error());
  Matrix d;
  d.type = p.type_d;
  d.rows = p.m;
  d.columns = p.n;
  d.strides = {p.n, 1, 0};
  d.data = data->get();
  d.owner = std::move(*data);
  return d;
}

Result<ProductReport> compute(const Options& options, const Settings& settings,
                              const ProductInputs& inputs, const Matrix& d, Device device,
                              ProgressLine& progress) {
  std::vector<const void*> operands;
  for (const Matrix& operand : inputs.operands) operands.push_back(operand.data);
  ProductRequest request;
  request.problem = inputs.problem;
  request.schedule = settings.schedule ? &*settings.schedule : nullptr;
  request.prepare = settings.prepare;
  request.prepare.device = device;
  request.verify = settings.verify;
  request.seed = options.product.seed;
  request.a = inputs.a.data;
  request.b = inputs.b.data;
  request.c = inputs.c.data;
  request.d = const_cast<void*>(d.data);  // the buffer that make_result() owns
  request.operands = operands;
  request.progress = [&progress](std::string_view stage, double fraction) {
    progress.set(stage, fraction);
  };
  return run_product(request);
}

struct Finished {
  ProductInputs inputs;
  Matrix d;
  ProductReport report;
  bool written = false;
};

// Everything that takes time, with its progress on the terminal.
Result<Finished> finish(const Options& options, const Settings& settings, const Console& console) {
  constexpr double kUnknown = -1;
  ProgressLine progress(console.err);
  progress.set(options.product.sources.size() == 3 ? "making A and B" : "reading A and B",
               kUnknown);
  Finished finished;
  Result<ProductInputs> inputs = load_inputs(options.product);
  if (!inputs) return std::unexpected(inputs.error());
  finished.inputs = std::move(*inputs);
  Result<Matrix> d = make_result(finished.inputs);
  if (!d) return std::unexpected(d.error());
  finished.d = std::move(*d);
  const Device device = choose_device(options, settings, finished.inputs.problem, console);
  Result<ProductReport> report =
      compute(options, settings, finished.inputs, finished.d, device, progress);
  if (!report) return std::unexpected(report.error());
  finished.report = std::move(*report);
  if (!options.output || !finished.report.verification.passed()) return finished;
  progress.set("writing", kUnknown);
  if (const Result<void> done = write_npy(*options.output, finished.d); !done) {
    return bad_request(fmt::format("-o: {}", done.error().message));
  }
  finished.written = true;
  return finished;
}

// A file name that cannot be taken for an option.
std::string path_argument(const std::string& path) {
  return path.size() > 1 && path.front() == '-' ? "./" + path : path;
}

// The command line with every default written out, so that it repeats on this machine as it ran.
std::string repeat_command(const Options& options, const Finished& finished,
                           const Console& console) {
  std::vector<std::string> words = {"run"};
  const ProductArguments& product = options.product;
  for (const std::string& source : product.sources) words.push_back(path_argument(source));
  const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
    if (!value) return;
    words.emplace_back(name);
    words.push_back(path_argument(*value));
  };
  if (product.sources.size() == 3 || product.dtype) {
    add("--dtype", std::string(to_string(finished.inputs.problem.type_a)));
  }
  if (product.transpose_a) words.emplace_back("--transpose-a");
  if (product.transpose_b) words.emplace_back("--transpose-b");
  add("--bias", product.bias);
  add("--activation", product.activation);
  if (product.epilogue && product.epilogue->starts_with('-')) {
    words.push_back("--epilogue=" + *product.epilogue);
  } else if (product.epilogue) {
    words.insert(words.end(), {"--epilogue", *product.epilogue});
  }
  for (const std::string& binding : product.bindings) add("--bind", binding);
  add("--schedule", options.schedule);
  add("--device", std::string(to_string(finished.report.device)));
  if (finished.report.device == Device::cpu) {
    add("--target", finished.report.target);
    add("--threads", fmt::to_string(finished.report.threads));
  }
  add("--seed", options.seed);
  add("--verify", options.verify);
  add("-o", options.output);
  return shell_command(words, console.program);
}

Result<ExitCode> run(Options& options, const Console& console) {
  const Result<Settings> settings = read_settings(options);
  if (!settings) return std::unexpected(settings.error());
  const Result<Finished> finished = finish(options, *settings, console);
  if (!finished) return std::unexpected(finished.error());
  const RunReport report{finished->inputs, finished->report,
                         repeat_command(options, *finished, console),
                         finished->written ? options.output.value_or("") : ""};
  const std::string text = options.json ? run_json(report, console) : run_text(report);
  options.output == "-" ? console.say(text) : console.print(text);
  const Verification& verification = finished->report.verification;
  if (verification.passed()) return ExitCode::success;
  return std::unexpected(Error{ErrorCode::verification_failed, failure_sentence(verification)});
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  ProductArguments& product = options->product;
  line.add_option("sources", product.sources, "A.npy B.npy (- is standard input), or M N K")
      .type_name("A B | M N K");
  line.add_option("-o,--output", options->output, "write the result as .npy (- is standard output)")
      .type_name("FILE");
  line.add_option("--dtype", product.dtype,
                  "f32, f64, bf16 or f16; by default that of A and B, or f32")
      .type_name("TYPE");
  line.add_flag("--transpose-a", product.transpose_a, "A is stored as K x M");
  line.add_flag("--transpose-b", product.transpose_b, "B is stored as N x K");
  line.add_option("--bias", product.bias, "N values to add to each row").type_name("FILE");
  line.add_option("--activation", product.activation,
                  "relu, gelu, gelu_tanh, silu, sigmoid or tanh, after the bias")
      .type_name("NAME");
  line.add_option("--epilogue", product.epilogue, "an expression of acc, c[m,n] and named operands")
      .type_name("EXPR");
  line.add_option("--bind", product.bindings,
                  "name=FILE for each operand; random ones get random values")
      .type_name("NAME=FILE")
      .one_value_each_time();
  line.add_option("--schedule", options->schedule,
                  "a named schedule (tilewise schedules) or file.json")
      .type_name("NAME");
  line.add_option("--device", options->device,
                  "cpu or gpu; by default the GPU, if there is one that can")
      .type_name("DEVICE");
  add_cpu_options(line, options->cpu);
  line.add_option("--seed", options->seed, "of random matrices and of the samples; 1 by default")
      .type_name("N");
  line.add_option("--verify", options->verify,
                  "sample (the default; every element where that is cheap), full or none")
      .type_name("MODE");
  line.add_flag("--json", options->json, "one JSON document (tilewise.run/1)");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

extern const Verb kRunVerb = {
    "run", "a product of two files or of random matrices: timed, counted and checked",
    "  tilewise run 2048 2048 2048\n"
    "  tilewise run A.npy B.npy -o C.npy --bias bias.npy --activation relu\n"
    "  tilewise run 512 512 512 --epilogue 'gelu(acc + bias[n])' --dtype bf16 --json\n",
    declare};

}  // namespace tilewise::cli
