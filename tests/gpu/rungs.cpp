// gpu_rungs: runs rungs of the ladder on small exact products, for the scripts that put a sanitizer
// or a profiler around it (sanitize.sh, check_counters.py).
//
//   gpu_rungs list                              the named GPU schedules, one a line
//   gpu_rungs compile SCHEDULE...               compiles every variant that the other words use, on
//                                               all cores (no GPU is needed: TILEWISE_ARCHITECTURE)
//   gpu_rungs grid SECONDS elements|whole all|pairs SCHEDULE...
//                                               the odd grid: 1, 31, 33, 127, 129, 257 in each
//                                               dimension, with padded pitches and offset bases;
//                                               pairs: 36 shapes in which any two dimensions take
//                                               every two extents
//   gpu_rungs refusals SCHEDULE...              requests that a rung must refuse, with the way out
//   gpu_rungs counters FILE SCHEDULE...         one launch a schedule and shape and no other
//                                               kernel; FILE gets what is predicted of each (JSON)
//   gpu_rungs patterns FILE                     one launch of shared_patterns.cuh, likewise
//   gpu_rungs broken                            rung 03 without one of its barriers: says how many
//                                               results are wrong
//
// No SCHEDULE: all of them. Exit code 0; 1 where a result is wrong; 2 for a bad request; 3 without
// a GPU.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>
#include <thread>

#include "gpu/broken_rung.h"
#include "gpu/kernel_cache.h"
#include "gpu/product_case.h"
#include "gpu/shared_patterns.h"
#include "gpu/translation_unit.h"
#include "io/json_writer.h"
#include "schedule/bulk_copy.h"
#include "tilewise/units.h"

namespace tilewise::gpu {
namespace {

using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kOddExtents[] = {1, 31, 33, 127, 129, 257};
// A multiple of every named tile and cluster; a ragged one that every rung takes; one whose rows
// start at odd places.
constexpr Shape kDivisible{512, 768, 256}, kRagged{333, 264, 144}, kOdd{331, 265, 141};

constexpr Layout kDense{"nn", false, false, 0, 0, 1}, kDenseAlongK{"nt", false, true, 0, 0, 1};

struct Run {
  Schedule schedule;
  RungNeeds needs;
};

Result<std::vector<Run>> runs_of(std::span<const std::string> names) {
  std::vector<Run> runs;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.device != Device::gpu) continue;
    if (!names.empty() && std::ranges::find(names, schedule.name) == names.end()) continue;
    auto needs = rung_needs(schedule);
    if (!needs) return std::unexpected(needs.error());
    runs.push_back({schedule, std::move(*needs)});
  }
  if (!names.empty() && runs.size() != names.size()) {
    return bad_request("a schedule is not one of the named GPU schedules; gpu_rungs list has them");
  }
  return runs;
}

// The type that a rung is counted with: bf16 where it takes two.
Type main_type(const Run& run) {
  const auto& types = run.needs.types;
  return std::ranges::find(types, Type::bf16) != types.end() ? Type::bf16 : types.front();
}

struct CaseLayout {
  Layout layout;
  bool aligned;
};

// Padded and offset as far as the rung allows it, and for the aligned copies too.
std::vector<CaseLayout> odd_layouts(const Run& run, Type type) {
  const bool along_k = reads_along_k(run.schedule, type);
  std::vector<CaseLayout> layouts = {
      {{along_k ? "nt aligned" : "nn aligned", false, along_k, 16, run.needs.base_bytes, 1}, true}};
  if (run.needs.any_strides) layouts.push_back({{"nn odd", false, false, 1, 1, 1}, false});
  return layouts;
}

int fail(const Error& error) {
  std::cerr << "gpu_rungs: " << error.message << '\n';
  switch (error.code) {
    case ErrorCode::missing_capability:
      return 3;
    case ErrorCode::bad_request:
      return 2;
    default:
      return 1;
  }
}

// ---- compile

std::vector<std::pair<Schedule, TranslationUnit>> variants(const std::vector<Run>& runs) {
  std::vector<std::pair<Schedule, TranslationUnit>> units;
  const KernelFiles files = kernel_files().value();
  for (const Run& run : runs) {
    for (const Type type : run.needs.types) {
      std::vector<CaseLayout> layouts = odd_layouts(run, type);
      layouts.push_back({reads_along_k(run.schedule, type) ? kDenseAlongK : kDense, true});
      for (const CaseLayout& each : layouts) {
        for (const bool aligned_bases : {true, false}) {
          const Problem p = make_case(kRagged, each.layout, type, run.schedule, each.aligned);
          if (!aligned_bases && run.schedule.copy == Copy::bulk) continue;
          auto unit = write_translation_unit(files, p, run.schedule,
                                             make_constants(p, run.schedule, aligned_bases));
          if (unit) units.emplace_back(run.schedule, std::move(*unit));
        }
      }
    }
  }
  return units;
}

int compile(const std::vector<Run>& runs) {
  const char* named = std::getenv("TILEWISE_ARCHITECTURE");
  const auto context = find_context(nullptr);
  const std::string architecture = named != nullptr ? named
                                   : context        ? context->device->architecture
                                                    : "sm_90a";
  const auto units = variants(runs);
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failed = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < units.size(); i = next++) {
      if (const auto found = find_kernel(units[i].second, architecture); !found) {
        std::cerr << units[i].first.name + ": " + found.error().message + "\n";
        ++failed;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return failed == 0 ? 0 : 1;
}

// ---- grid

// All shapes of the grid, in an order that soon has met small and large in each dimension.
std::vector<Shape> odd_shapes(bool pairs) {
  std::vector<Shape> shapes;
  constexpr std::size_t kCount = std::size(kOddExtents);
  for (std::size_t i = 0; pairs && i < kCount * kCount; ++i) {
    const std::size_t m = i / kCount, n = i % kCount;
    shapes.push_back({kOddExtents[m], kOddExtents[n], kOddExtents[(m + n) % kCount]});
  }
  if (pairs) return shapes;
  for (const std::int64_t m : kOddExtents) {
    for (const std::int64_t n : kOddExtents) {
      for (const std::int64_t k : kOddExtents) shapes.push_back({m, n, k});
    }
  }
  constexpr std::size_t kStep = 85;  // no factor in common with 216
  std::vector<Shape> mixed;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    mixed.push_back(shapes[i * kStep % shapes.size()]);
  }
  return mixed;
}

int grid(const std::vector<Run>& runs, double seconds, bool elements_only, bool pairs) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const std::vector<Shape> shapes = odd_shapes(pairs);
  std::int64_t done = 0, planned = 0, wrong = 0;
  for (const Run& run : runs) {
    for (const Type type : run.needs.types) {
      planned += static_cast<std::int64_t>(odd_layouts(run, type).size() * shapes.size());
    }
  }
  // Shape by shape, so that a run that is cut short has met every rung.
  for (const Shape& shape : shapes) {
    if (Clock::now() > end) break;
    for (const Run& run : runs) {
      for (const Type type : run.needs.types) {
        for (const CaseLayout& each : odd_layouts(run, type)) {
          const Problem p = make_case(shape, each.layout, type, run.schedule, each.aligned);
          const auto mistakes = run_case(p, run.schedule, each.layout, elements_only);
          if (!mistakes) return fail(mistakes.error());
          ++done;
          if (mistakes->empty()) continue;
          ++wrong;
          std::cerr << run.schedule.name << ' ' << to_string(type) << ' ' << each.layout.name << ' '
                    << p.m << " x " << p.n << " x " << p.k << ": " << *mistakes << '\n';
        }
      }
    }
  }
  std::printf("grid: %lld of %lld products, %lld wrong\n", static_cast<long long>(done),
              static_cast<long long>(planned), static_cast<long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

// ---- refusals

// Why a request was not refused as it should be; empty where it was.
std::string check_refusal(const Run& run, const Layout& layout, Type type, bool aligned) {
  const Problem p = make_case(kOdd, layout, type, run.schedule, aligned);
  const auto plan = make_plan(p, &run.schedule);
  if (!plan) {
    if (plan.error().code != ErrorCode::bad_request) return plan.error().message;
    // Rung 12 is the way out; it has no kernel of 8-bit operands.
    const std::string way_out = p.compute == Compute::tf32 ? "\"mma_tf32\"" : "\"mma\"";
    return size_bytes(type) == 1 || plan.error().message.find(way_out) != std::string::npos
               ? ""
               : "names no way out: " + plan.error().message;
  }
  const auto operands = CaseOperands::create(p, layout);
  if (!operands) return operands.error().message;
  if ((*plan)->run(operands->arguments())) return "was accepted";
  const auto untouched = operands->untouched();
  if (!untouched) return untouched.error().message;
  return *untouched ? "" : "wrote before it refused";
}

int refusals(const std::vector<Run>& runs) {
  int asked = 0, wrong = 0;
  for (const Run& run : runs) {
    if (run.needs.any_strides) continue;
    for (const Type type : run.needs.types) {
      const bool along_k = reads_along_k(run.schedule, type);
      for (const auto& [layout, aligned] :
           {std::pair{Layout{"odd pitch", false, along_k, 1, 0, 1}, false},
            std::pair{Layout{"odd base", false, along_k, 16, size_bytes(type), 1}, true}}) {
        ++asked;
        const std::string mistake = check_refusal(run, layout, type, aligned);
        if (mistake.empty()) continue;
        ++wrong;
        std::cerr << run.schedule.name << ", " << layout.name << ": " << mistake << '\n';
      }
    }
  }
  std::printf("refusals: %d requests, %d wrong\n", asked, wrong);
  return wrong == 0 ? 0 : 1;
}

// ---- counters

void write_predictions(JsonWriter& w, const Traffic& traffic) {
  w.key("predicted");
  w.begin_array();
  for (const TrafficRow& row : traffic.rows) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("level", row.level);
    w.member("operand", to_string(row.operand));
    w.member("direction", to_string(row.direction));
    w.member("quantity", to_string(row.quantity));
    w.member("unit", row.unit);
    w.member("value", row.value);
    w.end_object();
  }
  w.end_array();
}

Result<bool> counted_case(const Run& run, const char* name, const Shape& shape, bool aligned,
                          JsonWriter& w) {
  const Type type = main_type(run);
  const Layout layout = reads_along_k(run.schedule, type) ? kDenseAlongK : kDense;
  const Problem p = make_case(shape, layout, type, run.schedule, aligned);
  const auto traffic = count_units(p, run.schedule);
  if (!traffic) return std::unexpected(traffic.error());
  const auto mistakes = run_case(p, run.schedule, layout);
  if (!mistakes) return std::unexpected(mistakes.error());
  if (!mistakes->empty()) std::cerr << run.schedule.name << ": " << *mistakes << '\n';
  w.begin_object();
  w.member("schedule", run.schedule.name);
  w.member("kernel", run.schedule.kernel);
  w.member("shape", name);
  w.member("m", p.m);
  w.member("n", p.n);
  w.member("k", p.k);
  w.member("dtype", to_string(type));
  w.member("layout", layout.name);
  w.member("verified", mistakes->empty());
  write_predictions(w, *traffic);
  w.end_object();
  return mistakes->empty();
}

int counters(const std::string& path, const std::vector<Run>& runs) {
  JsonWriter w;
  w.begin_object();
  w.member("schema", "tilewise.counters/1");
  w.key("cases");
  w.begin_array();
  bool right = true;
  for (const Run& run : runs) {
    std::vector<std::tuple<const char*, Shape, bool>> shapes = {{"divisible", kDivisible, true},
                                                                {"ragged", kRagged, true}};
    if (run.needs.any_strides) shapes.emplace_back("odd rows", kOdd, false);
    for (const auto& [name, shape, aligned] : shapes) {
      const auto done = counted_case(run, name, shape, aligned, w);
      if (!done) return fail(done.error());
      right = right && *done;
    }
  }
  w.end_array();
  w.end_object();
  std::ofstream(path) << std::move(w).finish();
  return right ? 0 : 1;
}

// ---- patterns

int patterns(const std::string& path) {
  const auto context = find_context(nullptr);
  if (!context) return fail(context.error());
  const auto scope = ContextScope::enter(context->context);
  const auto unit = patterns_unit();
  if (!unit) return fail(unit.error());
  const auto found = find_kernel(*unit, context->device->architecture);
  if (!found) return fail(found.error());
  const auto kernel = LoadedKernel::load(found->kernel, "shared_patterns");
  if (!kernel) return fail(kernel.error());
  const std::vector<SharedPattern> all = shared_patterns();
  const std::vector<int> offsets = pattern_offsets(all);
  constexpr std::size_t kBytes = 65536;  // the sources of the copies, and more than the results
  const auto a = DeviceBuffer::allocate(offsets.size() * sizeof(int));
  const auto b = DeviceBuffer::allocate(kBytes), d = DeviceBuffer::allocate(kBytes);
  if (!a || !b || !d) return fail(a ? (b ? d.error() : b.error()) : a.error());
  const std::vector<char> zeros(kBytes);
  if (auto ok = a->copy_from_host(offsets.data(), a->bytes()); !ok) return fail(ok.error());
  if (auto ok = b->copy_from_host(zeros.data(), kBytes); !ok) return fail(ok.error());
  KernelArguments arguments = {};
  arguments.a.data = a->data();
  arguments.b.data = b->data();
  arguments.d.data = d->data();
  CuLaunchConfig config;
  config.block_x = 32;
  config.shared_bytes = static_cast<unsigned>((*kernel)->launch().shared_bytes);
  void* parameters[] = {&arguments};
  if (auto ok = (*kernel)->enqueue(config, parameters); !ok) return fail(ok.error());
  std::vector<char> result(kBytes);
  if (auto ok = d->copy_to_host(result.data(), kBytes); !ok) return fail(ok.error());

  JsonWriter w;
  w.begin_object();
  w.member("schema", "tilewise.patterns/1");
  w.key("patterns");
  w.begin_array();
  for (const SharedPattern& pattern : all) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("instruction", pattern.instruction);
    w.member("name", pattern.name);
    w.member("width_bytes", pattern.access.width_bytes);
    w.member("wavefronts", pattern.wavefronts);
    w.member("known", pattern.known);
    w.key("offsets");
    w.begin_array(JsonWriter::Layout::line);
    for (const std::int64_t offset : pattern.access.offsets) w.value(offset);
    w.end_array();
    w.end_object();
  }
  w.end_array();
  w.end_object();
  std::ofstream(path) << std::move(w).finish();
  return 0;
}

// ---- broken

int broken() {
  for (const char* kernel : {"missing_first_barrier", "missing_second_barrier"}) {
    const auto wrong = run_broken_rung(kernel);
    if (!wrong) return fail(wrong.error());
    std::printf("%s: %lld of %lld results are wrong\n", kernel,
                static_cast<long long>(wrong->wrong), static_cast<long long>(wrong->total));
  }
  return 0;
}

int usage() {
  std::cerr
      << "usage: gpu_rungs list | compile [SCHEDULE...] | grid SECONDS elements|whole all|pairs "
         "[SCHEDULE...] | refusals [SCHEDULE...] | counters FILE [SCHEDULE...] | "
         "patterns FILE | broken\n";
  return 2;
}

int run_word(const std::string& word, const Words& words) {
  const std::size_t own = word == "grid" ? 3 : word == "counters" || word == "patterns" ? 1 : 0;
  if (words.size() < own) return usage();
  const auto runs = runs_of(std::span(words).subspan(own));
  if (!runs) return fail(runs.error());
  if (word == "list") {
    for (const Run& run : *runs) std::printf("%s\n", run.schedule.name.c_str());
    return 0;
  }
  if (word == "compile") return compile(*runs);
  if (const auto devices = gpu_devices(); !devices) return fail(devices.error());
  const auto context = find_context(nullptr);
  if (!context) return fail(context.error());
  const auto scope = ContextScope::enter(context->context);
  if (!scope) return fail(scope.error());
  if (word == "grid") {
    return grid(*runs, std::atof(words[0].c_str()), words[1] == "elements", words[2] == "pairs");
  }
  if (word == "refusals") return refusals(*runs);
  if (word == "counters") return counters(words[0], *runs);
  if (word == "patterns") return patterns(words[0]);
  if (word == "broken") return broken();
  return usage();
}

}  // namespace
}  // namespace tilewise::gpu

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return tilewise::gpu::usage();
  return tilewise::gpu::run_word(words[0], {words.begin() + 1, words.end()});
}
