#include "cpu/peak.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "cpu/cpu_count.h"
#include "cpu/pool.h"
#include "cpu/targets.h"

namespace tilewise::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRunSeconds = 4e-3;  // long against the 0.05 ms that waking a thread takes
constexpr int kRuns = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// GFLOP/s of this thread alone.
template <class T>
double measure_once(const Kernels<T>& kernels, std::int64_t iterations) {
  volatile T sink = 0;
  T value = 0;
  const auto start = Clock::now();
  const double flops = kernels.fma_loop(iterations, &value);
  const double seconds = seconds_since(start);
  sink = value;
  (void)sink;
  return flops / seconds * 1e-9;
}

// Each thread times its own loop; the loops run side by side, and the rates add up. More threads
// than processors would take turns, and each would see a processor to itself.
template <class T>
double measure(const Kernels<T>& kernels, int threads) {
  constexpr std::int64_t kProbe = 20000;
  const double probe_gflops = measure_once(kernels, kProbe);
  T value = 0;
  const double flops_per_iteration = kernels.fma_loop(1, &value);
  const auto iterations =
      static_cast<std::int64_t>(kRunSeconds * probe_gflops * 1e9 / flops_per_iteration) + 1;
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> rates(static_cast<std::size_t>(threads), 0.0);
    Pool::instance().run(threads, threads, [&](std::int64_t task, int) {
      rates[static_cast<std::size_t>(task)] = measure_once(kernels, iterations);
    });
    double total = 0;
    for (const double rate : rates) total += rate;
    best = std::max(best, total);
  }
  return best;
}

}  // namespace

double measure_fma_peak(Type type, int threads, std::string_view target) {
  const auto table = choose_target(target);
  if (!table || threads < 1) return 0;
  threads = std::min(threads, usable_cpus());
  return type == Type::f64 ? measure((*table)->f64, threads) : measure((*table)->f32, threads);
}

}  // namespace tilewise::cpu
