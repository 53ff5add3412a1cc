#include "report/run_product.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "cpu/peak.h"
#include "report/run_gpu_product.h"
#include "tilewise/estimate.h"

namespace tilewise {
namespace {

constexpr int kMostRuns = 20000;

void tell(const ProductRequest& request, std::string_view stage, double fraction = -1) {
  if (request.progress) request.progress(stage, fraction);
}

Result<double> timed_run(const Plan& plan, const ProductRequest& request,
                         std::span<std::byte> workspace) {
  const auto start = std::chrono::steady_clock::now();
  const Result<void> done =
      plan.run(request.a, request.b, request.c, request.d, request.operands, workspace);
  if (!done) return std::unexpected(done.error());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Whether D may be computed again: not where it is also an input.
bool may_repeat(const ProductRequest& request) {
  const auto is_d = [&](const void* operand) { return operand == request.d; };
  return !is_d(request.c) && std::none_of(request.operands.begin(), request.operands.end(), is_d);
}

Result<void> time_product(const Plan& plan, const ProductRequest& request, ProductReport& report) {
  std::vector<std::byte> workspace(plan.workspace_bytes());
  tell(request, "computing");
  std::vector<double> seconds;
  double spent = 0;
  do {
    const Result<double> one = timed_run(plan, request, workspace);
    if (!one) return std::unexpected(one.error());
    if (seconds.empty()) report.first_seconds = *one;
    seconds.push_back(*one);
    spent += *one;
  } while (may_repeat(request) && spent < request.repeat_for_s &&
           static_cast<int>(seconds.size()) < kMostRuns);
  report.num_runs = static_cast<int>(seconds.size());
  std::sort(seconds.begin(), seconds.end());
  report.low_seconds = seconds[seconds.size() / 4];
  report.high_seconds = seconds[(3 * seconds.size()) / 4];
  report.seconds = seconds[seconds.size() / 2];
  return {};
}

// On both sides of the product, the faster one: other work on the machine comes and goes.
void measure_peak(const ProductRequest& request, ProductReport& report) {
  if (!request.measure_peak || report.device != Device::cpu) return;
  const Type type = request.problem.type_a == Type::f64 ? Type::f64 : Type::f32;
  const double peak = cpu::measure_fma_peak(type, report.threads, report.target);
  report.peak_gflops = std::max(report.peak_gflops, peak);
}

void add_bound(const ProductRequest& request, ProductReport& report) {
  if (report.device != Device::cpu) return;
  const auto estimated = estimate(request.problem, report.schedule, host_machine());
  if (!estimated) return;
  report.bound_elements =
      std::ceil(estimated->dram_bound_bytes / size_bytes(request.problem.type_a));
}

void rate(const ProductRequest& request, ProductReport& report) {
  constexpr double kGiga = 1e9;
  const double flops = num_flops(request.problem);
  if (flops > 0 && report.seconds > 0) report.gflops = flops / report.seconds / kGiga;
  if (report.peak_gflops > 0) report.share_of_peak = report.gflops / report.peak_gflops;
}

VerifyOptions verify_options(const ProductRequest& request, const ProductReport& report) {
  VerifyOptions options;
  options.mode = request.verify;
  options.seed = request.seed;
  options.threads = report.threads;
  options.product_s = report.seconds;
  if (request.progress) {
    options.progress = [&request](double fraction) { request.progress("checking", fraction); };
  }
  return options;
}

}  // namespace

Result<ProductReport> run_product(const ProductRequest& request) {
  const Result<Plan> plan =
      prepare(request.problem, request.schedule, host_machine(), request.prepare);
  if (!plan) return std::unexpected(plan.error());
  ProductReport report;
  report.schedule = plan->schedule();
  report.device = plan->device();
  report.target = plan->target();
  report.threads = plan->threads();
  Result<CountReport> counted = count_levels(request.problem, report.schedule);
  if (!counted) return std::unexpected(counted.error());
  report.counted = std::move(*counted);
  add_bound(request, report);

  if (report.device == Device::gpu) {
    if (const Result<void> done = run_gpu_product(*plan, request, report); !done) {
      return std::unexpected(done.error());
    }
    rate(request, report);
    return report;
  }

  measure_peak(request, report);
  if (const Result<void> done = time_product(*plan, request, report); !done) {
    return std::unexpected(done.error());
  }
  measure_peak(request, report);
  rate(request, report);
  report.verification = verify({.problem = request.problem,
                                .schedule = report.schedule,
                                .a = request.a,
                                .b = request.b,
                                .c = request.c,
                                .d = request.d,
                                .operands = request.operands},
                               verify_options(request, report));
  return report;
}

}  // namespace tilewise
