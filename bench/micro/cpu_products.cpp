// Whole products through a plan, by shape and number of threads.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "cpu/cpu_count.h"
#include "cpu/peak.h"
#include "tilewise/matmul.h"
#include "tilewise/plan.h"

namespace {

using namespace tilewise;

struct Shape {
  std::int64_t m, n, k;
};
constexpr Shape kShapes[] = {
    {1, 1, 1},       {8, 8, 8},          {16, 16, 16},     {64, 64, 64},    {128, 128, 128},
    {256, 256, 256}, {1024, 1024, 1024}, {17, 31, 1023},   {1, 4096, 4096}, {4096, 1, 4096},
    {8, 4096, 4096}, {64, 4096, 4096},   {4096, 64, 4096}, {4096, 4096, 1}, {4096, 4096, 64}};

template <class T>
void product(benchmark::State& state, const Shape& shape, int threads) {
  const Type type = sizeof(T) == sizeof(double) ? Type::f64 : Type::f32;
  const Problem problem = make_problem(shape.m, shape.n, shape.k, type);
  std::vector<T> a(static_cast<std::size_t>(shape.m * shape.k), T{1});
  std::vector<T> b(static_cast<std::size_t>(shape.k * shape.n), T{1});
  std::vector<T> d(static_cast<std::size_t>(shape.m * shape.n), T{0});
  const auto plan =
      prepare(problem, nullptr, host_machine(), {.threads = threads, .device = Device::cpu});
  if (!plan) return state.SkipWithError(plan.error().message.c_str());
  for (auto _ : state) {
    const auto done = plan->run(a.data(), b.data(), nullptr, d.data());
    if (!done) return state.SkipWithError(done.error().message.c_str());
    benchmark::ClobberMemory();
  }
  const double flops = num_flops(problem);
  const double peak = cpu::measure_fma_peak(type, threads) * 1e9;
  state.counters["flops"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["share_of_peak"] =
      benchmark::Counter(flops / peak, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void register_products(const char* type) {
  for (const Shape& shape : kShapes) {
    for (int threads = 1; threads <= cpu::usable_cpus(); threads *= 2) {
      const std::string name = "product/" + std::string(type) + "/" + std::to_string(shape.m) +
                               "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) +
                               "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), [shape, threads](auto& state) {
        product<T>(state, shape, threads);
      })->UseRealTime();
    }
  }
}

// The cost of the call itself: the cache of plans is asked each time.
void matmul_of_one(benchmark::State& state) {
  const Problem problem = make_problem(1, 1, 1);
  float a = 1, b = 2, d = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(matmul(problem, &a, &b, nullptr, &d));
  }
}
BENCHMARK(matmul_of_one);

const int registered = [] {
  register_products<float>("f32");
  register_products<double>("f64");
  return 0;
}();

}  // namespace
