// What an epilogue costs: gelu(acc + bias[n]) + residual[m,n] fused into a product, beside the same
// schedule's plain product and cuBLASLt's, in one run.
//
//     fused_epilogue M N K SCHEDULE...      SCHEDULE: a name, or the path of a .json file
//
// bf16, layout nt, standard normal operands in copies beyond twice the L2. Rounds: each variant is
// timed once over 12 ms, after a pause; medians. Every element of the first copy is compared with
// float64 of the same product's float32 sums. Writes a tilewise.bench/1 document to standard output
// and words to standard error.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "gpu/cublaslt.h"
#include "gpu/gpu_plan.h"
#include "gpu/measure.h"
#include "gpu/timing.h"
#include "tilewise/plan.h"

namespace tilewise {
namespace {

using namespace gpu;

constexpr const char* kExpression = "gelu(acc + bias[n]) + residual[m,n]";
constexpr int kRounds = 7;
constexpr double kRoundMs = 12;
constexpr auto kPause = std::chrono::milliseconds(100);

template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  std::fputs(fmt::format(text, std::forward<Arguments>(arguments)...).c_str(), stderr);
}

template <class T>
T need(Result<T> result) {
  if (result) {
    if constexpr (std::is_void_v<T>) {
      return;
    } else {
      return std::move(*result);
    }
  }
  say("fused_epilogue: {}\n", result.error().message);
  std::exit(result.error().code == ErrorCode::missing_capability ? 3 : 2);
}

Schedule schedule_of(const std::string& name) {
  if (!name.ends_with(".json")) return need(find_schedule(name));
  std::ifstream file(name);
  std::stringstream text;
  text << file.rdbuf();
  return need(parse_schedule(text.str()));
}

// Buffers of bf16 or float32 in `copies` places.
struct Operand {
  DeviceBuffer buffer;
  std::int64_t stride_bytes = 0;
  std::int64_t copies = 1;

  Operand(std::int64_t elements, Type type, std::int64_t copies_, std::uint64_t seed)
      : stride_bytes((elements * size_bytes(type) + 255) / 256 * 256), copies(copies_) {
    buffer = need(DeviceBuffer::allocate(static_cast<std::size_t>(stride_bytes * copies)));
    if (seed != 0) need(fill_normal(type, buffer, seed, nullptr));
  }
  [[nodiscard]] char* at(std::int64_t launch) const {
    return static_cast<char*>(buffer.data()) + launch % copies * stride_bytes;
  }
  template <class T>
  [[nodiscard]] std::vector<T> first_copy(std::int64_t elements) const {
    std::vector<T> values(static_cast<std::size_t>(elements));
    need(buffer.copy_to_host(values.data(), values.size() * sizeof(T)));
    return values;
  }
};

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

struct Operands {
  Operand a, b, d, bias, residual;

  Operands(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t copies)
      : a(m * k, Type::bf16, copies, 1),
        b(n * k, Type::bf16, copies, 2),
        d(m * n, Type::bf16, copies, 0),
        bias(n, Type::bf16, copies, 3),
        residual(m * n, Type::bf16, copies, 4) {}

  [[nodiscard]] Result<void> run(const GpuPlan& plan, std::int64_t launch, void* to) const {
    const void* named[] = {bias.at(launch), residual.at(launch)};
    RunArguments arguments;
    arguments.a = a.at(launch);
    arguments.b = b.at(launch);
    arguments.d = to;
    if (!plan.description().problem.epilogue.is_identity()) arguments.operands = named;
    return plan.run(arguments);
  }
};

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, Type type_d, bool fused) {
  Problem p = make_problem(m, n, k);
  p.type_a = p.type_b = p.type_c = Type::bf16;
  p.type_d = type_d;
  p.b = {1, k, 0};
  if (fused) {
    p.epilogue = need(parse_epilogue(kExpression));
    for (EpilogueOperand& operand : p.epilogue.operands) operand.type = Type::bf16;
    for (int i = p.epilogue.num_operands; i < Epilogue::kMaxOperands; ++i) {
      p.epilogue.operands[static_cast<std::size_t>(i)] = {};
    }
    set_contiguous_operands(p.epilogue, m, n);
  }
  return p;
}

struct Variant {
  std::string name;
  bool fused = false;
  std::shared_ptr<const GpuPlan> plan;
  std::vector<double> us;
  double max_error = 0, error_bound = 0;
  bool verified = true;

  [[nodiscard]] double median_us() const {
    std::vector<double> sorted = us;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

// The bound: rounding to bf16, and the function's 2^-12.5 (docs/epilogue.md).
void verify(Variant& v, const Operands& operands, const Schedule& schedule) {
  const Problem& p = v.plan->description().problem;
  const std::int64_t size = p.m * p.n;
  const Operand sums(size, Type::f32, 1, 0);
  const auto exact = need(make_plan(problem_of(p.m, p.n, p.k, Type::f32, false), &schedule));
  need(operands.d.buffer.fill(0xff));
  need(operands.run(*exact, 0, sums.at(0)));
  need(operands.run(*v.plan, 0, operands.d.at(0)));
  const auto acc = sums.first_copy<float>(size);
  const auto got = operands.d.first_copy<std::uint16_t>(size);
  const auto bias = operands.bias.first_copy<std::uint16_t>(p.n);
  const auto residual = operands.residual.first_copy<std::uint16_t>(size);
  double worst = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double value = acc[at], slack = 0;
    if (v.fused) {
      const double x = value + from_bf16(bias[static_cast<std::size_t>(i % p.n)]);
      const double gelu = x / 2 * std::erfc(-x / std::sqrt(2.0));
      value = gelu + from_bf16(residual[at]);
      slack = 0x1.6ap-13 * (std::abs(gelu) + std::abs(x) * 0x1p-8) + 0x1p-30;
    }
    const double bound = std::ldexp(std::abs(value), -8) * 1.0001 + slack * 1.01;
    const double error = std::abs(from_bf16(got[at]) - value);
    const double share = error == 0 ? 0 : error / bound;
    if (!(share <= worst)) {
      worst = std::isnan(share) ? INFINITY : share;
      v.max_error = error;
      v.error_bound = bound;
    }
  }
  v.verified = worst <= 1;
  if (!v.verified) {
    say("{}: WRONG, error {} of a bound of {}\n", v.name, v.max_error, v.error_bound);
  }
}

double batch_us(const std::function<Result<void>(std::int64_t)>& launch, std::int64_t count,
                std::int64_t first) {
  const Event begin = need(Event::create()), end = need(Event::create());
  need(begin.record(nullptr));
  for (std::int64_t i = first; i < first + count; ++i) need(launch(i));
  need(end.record(nullptr));
  need(end.synchronize());
  return need(end.milliseconds_since(begin)) * 1000 / static_cast<double>(count);
}

int run(int argc, char** argv) {
  if (argc < 5) {
    say("usage: fused_epilogue M N K SCHEDULE...\n");
    return 2;
  }
  const std::int64_t m = std::atoll(argv[1]), n = std::atoll(argv[2]), k = std::atoll(argv[3]);
  const auto context = need(find_context(nullptr));
  const auto scope = need(ContextScope::enter(context.context));
  const std::int64_t copies = num_rotations((m * k + n * k) * 2, context.device->l2_bytes);
  const Operands operands(m, n, k, copies);

  std::vector<Variant> variants;
  for (int i = 4; i < argc; ++i) {
    const Schedule schedule = schedule_of(argv[i]);
    for (const bool fused : {false, true}) {
      Variant v{schedule.name, fused, nullptr, {}, 0, 0, true};
      auto plan = make_plan(problem_of(m, n, k, Type::bf16, fused), &schedule);
      if (!plan) {
        say("{}: {}\n", v.name, plan.error().message);
        continue;
      }
      v.plan = *plan;
      verify(v, operands, schedule);
      variants.push_back(std::move(v));
    }
  }
  const auto rival = CublasLtProduct::create(problem_of(m, n, k, Type::bf16, false));
  std::vector<double> rival_us;
  for (int round = 0; round < kRounds; ++round) {
    const auto time = [&](const std::function<Result<void>(std::int64_t)>& launch) {
      const double guess = batch_us(launch, 3, round * 1000);
      const auto count = static_cast<std::int64_t>(std::max(1.0, kRoundMs * 1000 / guess));
      std::this_thread::sleep_for(kPause);
      return batch_us(launch, count, round * 1000 + 3);
    };
    for (Variant& v : variants) {
      v.us.push_back(
          time([&](std::int64_t i) { return operands.run(*v.plan, i, operands.d.at(i)); }));
    }
    if (rival) {
      rival_us.push_back(time([&](std::int64_t i) {
        return rival->enqueue(0, operands.a.at(i), operands.b.at(i), operands.d.at(i), nullptr);
      }));
    }
  }
  std::ranges::sort(rival_us);

  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  double fastest_plain = INFINITY;
  for (const Variant& v : variants) {
    if (!v.fused) fastest_plain = std::min(fastest_plain, v.median_us());
  }
  bool verified = true;
  double plain = 0;
  for (const Variant& v : variants) {
    const double us = v.median_us();
    if (!v.fused) plain = us;
    verified = verified && v.verified;
    const auto& resources = v.plan->kernel().compiled().resources;
    say("{:32} {:5} {:8.1f} us {:6.1f} TFLOP/s", v.name, v.fused ? "fused" : "plain", us,
        flops / us * 1e-6);
    if (v.fused) {
      say("  {:+.1f} % over its plain, {:+.1f} % over the fastest plain", 100 * (us / plain - 1),
          100 * (us / fastest_plain - 1));
    }
    say("  {} registers{}\n", resources.registers, v.verified ? "" : "  WRONG");
    nlohmann::ordered_json row;
    row["suite"] = "fused_epilogue";
    row["name"] = v.name + (v.fused ? " fused" : " plain");
    row["m"] = m;
    row["n"] = n;
    row["k"] = k;
    row["batch"] = 1;
    row["dtype"] = "bf16";
    row["layout"] = "nt";
    row["compute"] = "f32";
    row["scale"] = "none";
    row["epilogue"] = v.fused ? kExpression : "acc";
    row["schedule"] = v.name;
    row["device"] = "gpu";
    row["time_us"] = us;
    row["low_us"] = std::ranges::min(v.us);
    row["high_us"] = std::ranges::max(v.us);
    row["tflops"] = flops / us * 1e-6;
    row["verified"] = v.verified;
    row["max_error"] = v.max_error;
    row["error_bound"] = v.error_bound;
    row["over_plain"] = us / plain - 1;
    row["over_fastest_plain"] = us / fastest_plain - 1;
    if (!rival_us.empty()) {
      const double theirs = rival_us[rival_us.size() / 2];
      nlohmann::ordered_json rival_row;
      rival_row["name"] = "cublaslt, plain";
      rival_row["version"] = (*cublaslt())->version;
      rival_row["time_us"] = theirs;
      rival_row["tflops"] = flops / theirs * 1e-6;
      row["rivals"].push_back(rival_row);
      row["ratio"] = theirs / us;
    }
    rows.push_back(row);
  }
  if (!rival_us.empty()) {
    const double us = rival_us[rival_us.size() / 2];
    say("{:32} plain {:8.1f} us {:6.1f} TFLOP/s\n", "cublaslt", us, flops / us * 1e-6);
  }
  nlohmann::ordered_json document;
  document["schema"] = "tilewise.bench/1";
  document["environment"]["card"] = context.device->name;
  document["environment"]["data"] = "standard normal, copies beyond twice the L2";
  document["environment"]["command"] = fmt::format("fused_epilogue {} {} {}", m, n, k);
  document["rows"] = rows;
  std::puts(document.dump(1).c_str());
  return verified ? 0 : 1;
}

}  // namespace
}  // namespace tilewise

int main(int argc, char** argv) { return tilewise::run(argc, argv); }
