#include "report/run_product.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "cpu/peak.h"
#include "report/run_gpu_product.h"
#include "tilewise/estimate.h"

namespace tilewise {
namespace {

constexpr int kMostRuns = 20000;
constexpr int kTurns = 8;  // in which a product is timed, among what stands beside it

void tell(const ProductRequest& request, std::string_view stage, double fraction = -1) {
  if (request.progress) request.progress(stage, fraction);
}

// Whether D may be computed again: not where it is also an input.
bool may_repeat(const ProductRequest& request) {
  const auto is_d = [&](const void* operand) { return operand == request.d; };
  return !is_d(request.c) && std::none_of(request.operands.begin(), request.operands.end(), is_d);
}

// Runs once, and again until limit_s is spent if it may; appends the time of each run.
Result<void> take_turn(const std::function<Result<void>()>& run, bool again, double limit_s,
                       std::vector<double>& seconds) {
  double spent = 0;
  do {
    const auto start = std::chrono::steady_clock::now();
    if (const Result<void> done = run(); !done) return done;
    const std::chrono::duration<double> one = std::chrono::steady_clock::now() - start;
    seconds.push_back(one.count());
    spent += one.count();
  } while (again && spent < limit_s && static_cast<int>(seconds.size()) < kMostRuns);
  return {};
}

double median(std::vector<double>& seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// The peak beside a product, in bursts on both sides of each turn: other work on the machine, and
// its clock, come and go.
class PeakBursts {
 public:
  PeakBursts(const ProductRequest& request, const ProductReport& report)
      : type_(request.problem.type_a == Type::f64 ? Type::f64 : Type::f32),
        threads_(report.threads),
        target_(report.target),
        flops_(num_flops(request.problem)),
        wanted_(request.measure_peak) {}

  void burst() {
    if (wanted_) gflops_.push_back(cpu::measure_fma_peak(type_, threads_, target_));
  }
  // Between two bursts: the runs of a turn.
  void turn(std::vector<double> seconds) { turn_seconds_.push_back(median(seconds)); }

  // The median of the bursts, and of the shares that the turns had of the bursts around them.
  void report(ProductReport& report) {
    if (!wanted_) return;
    std::vector<double> shares;
    for (std::size_t i = 0; i < turn_seconds_.size(); ++i) {
      const double peak = (gflops_[2 * i] + gflops_[2 * i + 1]) / 2;
      if (peak <= 0 || turn_seconds_[i] <= 0) return;
      shares.push_back(flops_ * 1e-9 / turn_seconds_[i] / peak);
    }
    report.peak_gflops = median(gflops_);
    report.share_of_peak = median(shares);
  }

 private:
  Type type_;
  int threads_;
  std::string_view target_;
  double flops_;
  bool wanted_;
  std::vector<double> gflops_, turn_seconds_;
};

Result<void> time_product(const Plan& plan, const ProductRequest& request, ProductReport& report) {
  std::vector<std::byte> workspace(plan.workspace_bytes());
  tell(request, "computing");
  const std::function<Result<void>()> run = [&] {
    return plan.run(request.a, request.b, request.c, request.d, request.operands, workspace);
  };
  const bool again = may_repeat(request) && request.repeat_for_s > 0;
  const int turns = again ? kTurns : 1;
  const double limit_s = request.repeat_for_s / turns;
  PeakBursts peak(request, report);
  std::vector<double> seconds;
  std::vector<std::vector<double>> beside(request.beside.size());
  for (int turn = 0; turn < turns; ++turn) {
    const auto before = static_cast<std::ptrdiff_t>(seconds.size());
    peak.burst();
    if (const Result<void> done = take_turn(run, again, limit_s, seconds); !done) return done;
    peak.burst();
    peak.turn({seconds.begin() + before, seconds.end()});
    if (turn == 0) report.first_seconds = seconds.front();
    for (std::size_t i = 0; i < beside.size(); ++i) {
      const Beside& other = request.beside[i];
      if (const Result<void> done = take_turn(other.run, again, limit_s, beside[i]); !done) {
        return done;
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(other.pause_s));
    }
  }
  report.num_runs = static_cast<int>(seconds.size());
  report.seconds = median(seconds);
  report.low_seconds = seconds[seconds.size() / 4];
  report.high_seconds = seconds[(3 * seconds.size()) / 4];
  for (std::vector<double>& other : beside) report.beside_seconds.push_back(median(other));
  peak.report(report);
  return {};
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
    if (report.peak_gflops > 0) report.share_of_peak = report.gflops / report.peak_gflops;
    return report;
  }

  if (const Result<void> done = time_product(*plan, request, report); !done) {
    return std::unexpected(done.error());
  }
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
