// Products measured on this machine: shapes on its CPU, the rungs of the ladder on its GPU. Random
// operands with a seed; every result is checked against float64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewise/plan.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

struct BenchShape {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

struct BenchQuestion {
  std::vector<BenchShape> shapes;
  Type type = Type::f32;
  bool transpose_a = false, transpose_b = false;
  std::string epilogue;                // "" for none; its operands and C get random values
  const Schedule* schedule = nullptr;  // null: prepare() chooses
  int threads = 0;                     // 0: all that this process may use
  std::uint64_t seed = 1;
  double repeat_for_s = 0.5;  // short products run again until this is spent
};

struct Measured {
  std::string name;  // the shape's, or the rung's
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string schedule, device;
  std::int64_t threads = 0;
  double time_us = 0;              // the median
  double low_us = 0, high_us = 0;  // CPU: half of the runs lie between; GPU: all
  double tflops = 0;               // 10^12 FLOP a second of the 2mnk useful ones
  double share_of_peak = 0;        // 0: no peak is known
  std::optional<bool> verified;
  double max_error = 0, error_bound = 0;
  double ratio = 0;  // the rival's time over ours; 0: no rival
};

// On this machine's CPU, in the order of the shapes. Errors: a shape that does not fit memory
// (found before anything is measured), what prepare() refuses. A wrong result is no error.
[[nodiscard]] Result<std::vector<Measured>> bench(const BenchQuestion& question);

struct LadderQuestion {
  Problem problem;
  std::vector<Schedule> schedules;  // none: every named one that takes the problem
  bool against_cublaslt = false;
  std::uint64_t seed = 1;
};

struct LadderMeasured {
  std::string card;
  double peak_tflops = 0;  // measured where known, else the datasheet's
  std::string peak_source;
  std::vector<Measured> rows;
  std::optional<Measured> rival;     // cuBLASLt on the same operands
  std::vector<std::string> skipped;  // "wgmma: reason"
};

// On the GPU of the caller's current context, else the first. A rung that cannot take the problem
// is skipped with its reason; one of `schedules` that cannot is an error. Errors: no GPU, no
// memory.
[[nodiscard]] Result<LadderMeasured> measure_ladder(const LadderQuestion& question);

}  // namespace tilewise
