// The parts of the packed product on their own, data in cache: panels, and the block around the
// register tile. share_of_peak is against a register loop timed in the same run.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "cpu/peak.h"
#include "cpu/targets.h"
#include "tilewise/types.h"

namespace {

using namespace tilewise;
using namespace tilewise::cpu;

// A vector whose data starts on a cache line.
template <class T>
class AlignedVector {
 public:
  AlignedVector(std::int64_t size, T value)
      : data_(static_cast<T*>(::operator new(static_cast<std::size_t>(size) * sizeof(T), kLine))) {
    std::fill_n(data_, size, value);
  }
  ~AlignedVector() { ::operator delete(data_, kLine); }
  AlignedVector(const AlignedVector&) = delete;
  AlignedVector& operator=(const AlignedVector&) = delete;
  [[nodiscard]] T* data() { return data_; }

 private:
  static constexpr std::align_val_t kLine{64};
  T* data_;
};

template <class T>
const Kernels<T>& kernels_of(const KernelTable& table) {
  if constexpr (sizeof(T) == sizeof(double)) {
    return table.f64;
  } else {
    return table.f32;
  }
}

template <class T>
constexpr Type type_of() {
  return sizeof(T) == sizeof(double) ? Type::f64 : Type::f32;
}

constexpr std::int64_t kBlockM = 240;
constexpr std::int64_t kPanelN = 960;
constexpr std::int64_t kLine = 2064;  // row stride of the matrices: no power of two

enum class Which { a, b };

template <class T>
void pack(benchmark::State& state, const KernelTable& table, Which which, bool transposed) {
  const Kernels<T>& kernels = kernels_of<T>(table);
  const std::int64_t across = which == Which::a ? kBlockM : kPanelN;
  const std::int64_t along = 256;
  AlignedVector<T> matrix(kLine * std::max(across, along), T{1});
  AlignedVector<T> panels((across + 64) * along, T{0});
  const bool adjacent = (which == Which::b) != transposed;
  const PackArguments arguments{.source = matrix.data(),
                                .across_stride = adjacent ? 1 : kLine,
                                .along_stride = adjacent ? kLine : 1,
                                .across = across,
                                .along = along,
                                .panels = panels.data()};
  const auto function =
      (which == Which::a ? kernels.pack_a : kernels.pack_b)[static_cast<int>(type_of<T>())];
  for (auto _ : state) {
    function(arguments);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * across * along);
}

template <class T>
void multiply(benchmark::State& state, const KernelTable& table) {
  const Kernels<T>& kernels = kernels_of<T>(table);
  const std::int64_t k = state.range(0);
  AlignedVector<T> a((kBlockM + 64) * k, T{1});
  AlignedVector<T> b((kPanelN + 64) * k, T{1});
  AlignedVector<T> partial((kBlockM + 64) * (kPanelN + 64), T{0});
  const BlockArguments<T> block{
      .m = kBlockM,
      .n = kPanelN,
      .k = k,
      .a = a.data(),
      .b = b.data(),
      .partial = partial.data(),
      .partial_panel = (kBlockM + kernels.mr - 1) / kernels.mr * kernels.mr * kernels.nr,
      .first = false,
      .last = false};
  for (auto _ : state) {
    kernels.multiply(block);
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(kBlockM * kPanelN) * static_cast<double>(k);
  const double peak = measure_fma_peak(type_of<T>(), 1, table.target) * 1e9;
  state.counters["flops"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["share_of_peak"] =
      benchmark::Counter(flops / peak, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void register_for(const KernelTable& table) {
  const std::string suffix =
      std::string("/") + table.target + "/" + std::string(to_string(type_of<T>()));
  const auto add = [&](const std::string& name, Which which, bool transposed) {
    benchmark::RegisterBenchmark((name + suffix).c_str(), [&table, which, transposed](auto& state) {
      pack<T>(state, table, which, transposed);
    });
  };
  add("pack_a", Which::a, false);
  add("pack_a_transposed", Which::a, true);
  add("pack_b", Which::b, false);
  add("pack_b_transposed", Which::b, true);
  benchmark::RegisterBenchmark(("multiply" + suffix).c_str(),
                               [&table](auto& state) { multiply<T>(state, table); })
      ->Arg(16)
      ->Arg(64)
      ->Arg(256);
}

const int registered = [] {
  for (const KernelTable* table : compiled_targets()) {
    if (!is_supported(table->target)) continue;
    register_for<float>(*table);
    register_for<double>(*table);
  }
  return 0;
}();

}  // namespace
