// The shapes of a suite, measured one after the other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bench_document.h"
#include "io/suite_csv.h"
#include "report/verify.h"
#include "tilewise/plan.h"

namespace tilewise {

struct BenchOptions {
  Type type = Type::f32;
  std::string layout = "nn";  // of A and B, as set_operand_layout() takes it
  Epilogue epilogue;          // its operands and C get random values
  std::string epilogue_text;
  const Schedule* schedule = nullptr;
  PrepareOptions prepare;
  VerifyMode verify = VerifyMode::sample;
  std::uint64_t seed = 1;
  double repeat_for_s = 0.5;
  bool beside_openblas = false;  // timed in turns; refused where it has no such product
  // Told each row when it is there, and what is going on.
  std::function<void(const BenchRow&)> done;
  std::function<void(std::string_view stage, double fraction)> progress;
};

// Random matrices with the seed, rows in the suite's order. Errors: a shape that does not fit
// memory (found before anything is measured), what prepare() refuses. A wrong result is a row with
// "verified" false. With an epilogue, the same product without it is timed in turns (on the CPU).
[[nodiscard]] Result<std::vector<BenchRow>> run_suite(const Suite& suite,
                                                      const BenchOptions& options);

}  // namespace tilewise
