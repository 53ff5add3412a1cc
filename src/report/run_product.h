// One product of matrices in host memory, on this machine's CPU or GPU: timed, counted and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/verify.h"
#include "tilewise/plan.h"
#include "tilewise/traffic.h"

namespace tilewise {

// Something that is timed in turns with the product.
struct Beside {
  std::function<Result<void>()> run;
  double pause_s = 0;  // after its turn, until threads of its own sleep
};

struct ProductRequest {
  Problem problem;
  const Schedule* schedule = nullptr;  // null: prepare() chooses
  PrepareOptions prepare;
  VerifyMode verify = VerifyMode::sample;
  std::uint64_t seed = 1;     // of the samples
  double repeat_for_s = 0.3;  // short products run again until this is spent; 0: once
  bool measure_peak = true;

  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  std::span<const void* const> operands;
  std::vector<Beside> beside;

  // Told what is going on and the fraction done (negative: unknown), now and then.
  std::function<void(std::string_view stage, double fraction)> progress;
};

struct ProductReport {
  Schedule schedule;  // what ran
  Device device = Device::cpu;
  std::string target;
  int threads = 1;
  std::string card;  // of a GPU

  double seconds = 0;                        // median of num_runs
  double first_seconds = 0;                  // the first run, caches and pages cold
  double low_seconds = 0, high_seconds = 0;  // half of the runs lie between
  int num_runs = 0;
  std::vector<double> beside_seconds;  // medians, in the order of the request's beside; CPU only
  double gflops = 0;                   // 0 where there is nothing to compute
  // A register loop timed in bursts around the turns of the product, their median; on a GPU the
  // machine file's figure. 0: not known.
  double peak_gflops = 0;
  std::string peak_source;  // on a GPU
  // Of a GPU, at the end of the timed runs; 0: not known.
  double power_w = 0;
  int clock_mhz = 0;
  double share_of_peak = 0;  // on a CPU the median of the turns, each beside its own bursts

  CountReport counted;
  double bound_elements =
      0;  // that any schedule reads from DRAM through this CPU's caches; 0: unknown
  Verification verification;
};

// Errors: what prepare() and Plan::run refuse. A wrong result is no error: verification says so.
[[nodiscard]] Result<ProductReport> run_product(const ProductRequest& request);

}  // namespace tilewise
