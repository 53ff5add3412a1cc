// tilewise bench: the shapes of a suite, measured; bench compare: two such measurements.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/arguments.h"
#include "cli/bench_compare.h"
#include "cli/bench_table.h"
#include "cli/command_line.h"
#include "cli/cpu_options.h"
#include "cli/environment.h"
#include "cli/progress_line.h"
#include "cli/verb.h"
#include "io/bench_document.h"
#include "io/output_file.h"
#include "io/suite_csv.h"
#include "io/wording.h"
#include "report/bench_suite.h"
#include "report/gpu_findings.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> words;  // "compare a.json b.json"
  std::optional<std::string> suite, device, schedule, output, epilogue, max_gflop;
  CpuOptions cpu;
  std::optional<std::string> against;
  std::string dtype = "f32", layout = "nn", verify = "sample", seed = "1", seconds = "0.5";
  std::string threshold = "3";
  bool json = false;
};

Result<Type> bench_type(const std::string& name) {
  const Result<Type> type = parse_type(name);
  if (!type) return bad_request(fmt::format("--dtype: {}", type.error().message));
  if (*type == Type::f8e4m3 || *type == Type::f8e5m2) {
    return bad_request(
        fmt::format("--dtype is \"{}\"; valid here are f32, f64, bf16 and f16", name));
  }
  return type;
}

Result<void> read_epilogue(const Options& options, BenchOptions& bench) {
  if (!options.epilogue) return {};
  const Result<Epilogue> epilogue = parse_epilogue(*options.epilogue);
  if (!epilogue) return bad_request(fmt::format("--epilogue: {}", epilogue.error().message));
  bench.epilogue = *epilogue;
  bench.epilogue_text = epilogue->is_identity() ? "" : print_epilogue(*epilogue);
  return {};
}

Result<void> read_limits(const Options& options, BenchOptions& bench) {
  constexpr std::int64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();
  const Result<std::int64_t> seed = parse_integer("--seed", options.seed, 0, kLargestSeed);
  if (!seed) return std::unexpected(seed.error());
  bench.seed = static_cast<std::uint64_t>(*seed);
  const Result<double> seconds = parse_number("--seconds", options.seconds, 0, 3600);
  if (!seconds) return std::unexpected(seconds.error());
  bench.repeat_for_s = *seconds;
  const Result<VerifyMode> verify = parse_verify_mode(options.verify);
  if (!verify) return bad_request(fmt::format("--verify: {}", verify.error().message));
  bench.verify = *verify;
  return read_cpu_options(options.cpu, bench.prepare);
}

Result<void> read_device(const Options& options, BenchOptions& bench) {
  if (options.device && *options.device != "cpu" && *options.device != "gpu") {
    return bad_request(
        fmt::format("--device is {}; valid are cpu and gpu", in_quotes(*options.device)));
  }
  bench.prepare.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  if (bench.prepare.device == Device::cpu) return {};
  if (auto ok = check_no_cpu_options(options.cpu); !ok) return ok;
  return require_gpu();
}

Result<void> read_against(const Options& options, BenchOptions& bench) {
  if (!options.against) return {};
  if (*options.against != "openblas") {
    return bad_request(
        fmt::format("--against is {}; valid here is openblas", in_quotes(*options.against)));
  }
  if (bench.prepare.device == Device::gpu) {
    return bad_request("--against openblas is for the CPU, and --device is \"gpu\"; leave one out");
  }
  if (bench.type != Type::f32 && bench.type != Type::f64) {
    return bad_request(
        fmt::format("--against openblas has f32 and f64, and --dtype is {}; leave "
                    "one of them out",
                    to_string(bench.type)));
  }
  if (options.epilogue) {
    return bad_request(
        "--against openblas has no epilogue; leave --epilogue out (with it, the product without "
        "its epilogue is timed beside)");
  }
  bench.beside_openblas = true;
  return {};
}

// The shapes that are measured: those within --max-gflop.
Result<Suite> read_shapes(const Options& options, const Console& console) {
  if (!options.suite) {
    return bad_request(
        "--suite is missing: a CSV of name,m,n,k,batch such as bench/suites/cubes.csv");
  }
  Result<Suite> suite = read_suite(*options.suite);
  if (!suite) return bad_request(fmt::format("--suite: {}", suite.error().message));
  if (!options.max_gflop) return suite;
  const Result<double> most = parse_number("--max-gflop", *options.max_gflop, 0, 1e15);
  if (!most) return std::unexpected(most.error());
  const std::size_t removed = std::erase_if(suite->shapes, [&](const SuiteShape& shape) {
    Problem p = make_problem(shape.m, shape.n, shape.k);
    p.batch = shape.batch;
    return num_flops(p) > *most * 1e9;
  });
  if (suite->shapes.empty()) {
    return bad_request(fmt::format("--max-gflop {} leaves no shape of {}", *options.max_gflop,
                                   in_quotes(*options.suite)));
  }
  if (removed > 0) {
    console.say(fmt::format("tilewise bench: {} shapes of more than {} GFLOP are left out\n",
                            removed, *options.max_gflop));
  }
  return suite;
}

Result<void> write_document(const std::string& path, const std::string& text) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return bad_request(fmt::format("-o: {}", file.error().message));
  Result<void> done = file->write(std::as_bytes(std::span(text)));
  if (done) done = file->commit();
  if (!done) return bad_request(fmt::format("-o: {}", done.error().message));
  return {};
}

Result<ExitCode> run_bench(const Options& options, const Console& console) {
  BenchOptions bench;
  const Result<Type> type = bench_type(options.dtype);
  if (!type) return std::unexpected(type.error());
  bench.type = *type;
  bench.layout = options.layout;
  Result<void> done = check_layout(options.layout);
  if (done) done = read_epilogue(options, bench);
  if (done) done = read_limits(options, bench);
  if (done) done = read_device(options, bench);
  if (done) done = read_against(options, bench);
  if (done && options.output) done = check_output_path(*options.output);
  if (!done) return std::unexpected(done.error());
  std::optional<Schedule> schedule;
  if (options.schedule) {
    Result<Schedule> loaded = load_schedule(*options.schedule);
    if (!loaded) return std::unexpected(loaded.error());
    schedule = std::move(*loaded);
    bench.schedule = &*schedule;
  }
  const Result<Suite> suite = read_shapes(options, console);
  if (!suite) return std::unexpected(suite.error());

  ProgressLine progress(console.err);
  bench.progress = [&](std::string_view stage, double part) { progress.set(stage, part); };
  const Result<std::vector<BenchRow>> rows = run_suite(*suite, bench);
  if (!rows) return std::unexpected(rows.error());
  JsonWriter w;
  begin_document(w, "tilewise.bench/1", console, fmt::format("normal, seed {}", bench.seed));
  write_bench_rows(w, *rows);
  w.end_object();
  const std::string document = std::move(w).finish();
  if (options.output) {
    if (const Result<void> written = write_document(*options.output, document); !written) {
      return std::unexpected(written.error());
    }
  }
  if (options.output != "-") console.print(options.json ? document : bench_table(*rows));
  for (const BenchRow& row : *rows) {
    if (row.verified != false) continue;
    return std::unexpected(Error{ErrorCode::verification_failed,
                                 fmt::format("the result of {} is wrong", in_quotes(row.name))});
  }
  return ExitCode::success;
}

Result<ExitCode> run(const Options& options, const Console& console) {
  if (options.words.empty()) return run_bench(options, console);
  if (options.words[0] != "compare") {
    return bad_request(
        fmt::format("unexpected argument {}; give --suite FILE, or compare a.json b.json",
                    in_quotes(options.words[0])));
  }
  const Result<double> percent = parse_number("--threshold", options.threshold, 0, 1000);
  if (!percent) return std::unexpected(percent.error());
  return compare_documents({options.words.begin() + 1, options.words.end()}, *percent / 100,
                           options.json, console);
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("words", options->words, "nothing, or: compare BEFORE.json AFTER.json")
      .type_name("compare A B");
  line.add_option("--suite", options->suite, "a CSV of name,m,n,k,batch").type_name("FILE");
  line.add_option("--device", options->device, "cpu (the default) or gpu").type_name("DEVICE");
  line.add_option("--dtype", options->dtype, "f32 (the default), f64, bf16 or f16")
      .type_name("TYPE");
  line.add_option("--layout", options->layout, "nn (the default), nt, tn or tt: A and B transposed")
      .type_name("LAYOUT");
  line.add_option("--epilogue", options->epilogue, "an expression; its operands get random values")
      .type_name("EXPR");
  line.add_option("--schedule", options->schedule, "a named schedule or file.json")
      .type_name("NAME");
  add_cpu_options(line, options->cpu);
  line.add_option("--seed", options->seed, "of the random matrices; 1 by default").type_name("N");
  line.add_option("--seconds", options->seconds, "repeat each shape for so long; 0.5 by default")
      .type_name("S");
  line.add_option("--max-gflop", options->max_gflop, "leave larger shapes out").type_name("X");
  line.add_option("--verify", options->verify, "sample (the default), full or none")
      .type_name("MODE");
  line.add_option("--against", options->against, "openblas: the same product by it, timed in turns")
      .type_name("NAME");
  line.add_option("--threshold", options->threshold, "of compare, in percent; 3 by default")
      .type_name("P");
  line.add_option("-o,--output", options->output, "write the JSON document here too")
      .type_name("FILE");
  line.add_flag("--json", options->json,
                "one JSON document (tilewise.bench/1, tilewise.compare/1)");
  return [options](const Console& console) { return run(*options, console); };
}

}  // namespace

extern const Verb kBenchVerb = {
    "bench", "the shapes of a suite, measured; or two measurements compared",
    "  tilewise bench --suite bench/suites/cubes.csv --device cpu --max-gflop 20 -o before.json\n"
    "  tilewise bench --suite bench/suites/odd.csv --dtype bf16 --epilogue 'gelu(acc + bias[n])'\n"
    "  tilewise bench compare before.json after.json --threshold 5\n",
    declare};

}  // namespace tilewise::cli
