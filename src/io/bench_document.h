// Measurements as JSON ("tilewise.bench/1"): the rows of one run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json_writer.h"
#include "tilewise/result.h"

namespace tilewise {

struct BenchRival {
  std::string name, version;
  std::string kernel;  // which of its kernels ran, as the library says
  double time_us = 0;  // median
  double tflops = 0;
};

struct BenchRow {
  std::string suite, name;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string dtype;
  std::string layout = "nn";  // A, then B: n as it is, t transposed
  std::string compute;
  std::string scale = "none";
  std::string epilogue;  // "" for none
  std::string schedule;
  std::string device;
  std::int64_t threads = 0;
  double time_us = 0;              // median
  double low_us = 0, high_us = 0;  // the middle half of the runs lies between
  double tflops = 0;
  double share_of_peak = 0;
  std::optional<bool> verified;
  // Both of the element that uses most of its bound.
  double max_error = 0;
  double error_bound = 0;
  std::optional<double> without_epilogue_us;  // the same product without it, timed in turns
  std::optional<double> power_w, clock_mhz;   // of a GPU, where its driver says
  // The same product by other libraries, in turns with ours.
  std::vector<BenchRival> rivals;
};

// The fastest rival's time over ours: above 1 we are faster. Nothing where there is no rival.
[[nodiscard]] std::optional<double> ratio_of(const BenchRow& row);

// What the rows together say: the geometric mean and the smallest of the ratios where every row
// that computes anything has one, else of the shares of peak. Zero for no rows.
struct BenchSummary {
  std::string of = "share_of_peak";  // or "ratio"
  double geomean = 0;
  double worst = 0;
  std::string worst_name;
};
[[nodiscard]] BenchSummary summarise(const std::vector<BenchRow>& rows);

// The members "rows" and "summary"; "ratio" is null where no rival stands beside a row.
void write_bench_rows(JsonWriter& writer, const std::vector<BenchRow>& rows);

struct BenchDocument {
  std::string machine;  // environment.cpu or environment.card, "" if neither is there
  std::vector<BenchRow> rows;
};

// Reads a document of any verb that measures; fields that are not of BenchRow are left aside.
// Errors name the row and the field.
[[nodiscard]] Result<BenchDocument> parse_bench(std::string_view json);

}  // namespace tilewise
