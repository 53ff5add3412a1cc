#include "tilewise/bench.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "report/bench_suite.h"
#include "report/ladder.h"

namespace tilewise {
namespace {

Measured measured_of(const BenchRow& row) {
  Measured m;
  m.name = row.name;
  m.m = row.m;
  m.n = row.n;
  m.k = row.k;
  m.batch = row.batch;
  m.schedule = row.schedule;
  m.device = row.device;
  m.threads = row.threads;
  m.time_us = row.time_us;
  m.low_us = row.low_us;
  m.high_us = row.high_us;
  m.tflops = row.tflops;
  m.share_of_peak = row.share_of_peak;
  m.verified = row.verified;
  m.max_error = row.max_error;
  m.error_bound = row.error_bound;
  return m;
}

Measured measured_of(const Problem& p, const std::string& name, const gpu::Timing& time,
                     const gpu::MeasuredError& error) {
  Measured m;
  m.name = name;
  m.m = p.m;
  m.n = p.n;
  m.k = p.k;
  m.batch = p.batch;
  m.device = "gpu";
  m.threads = 1;
  m.time_us = time.median_us;
  m.low_us = time.low_us;
  m.high_us = time.high_us;
  m.verified = error.verified;
  m.max_error = error.max_error;
  m.error_bound = error.bound;
  return m;
}

}  // namespace

Result<std::vector<Measured>> bench(const BenchQuestion& question) {
  if (!(question.repeat_for_s >= 0) || std::isinf(question.repeat_for_s)) {
    return bad_request(fmt::format("bench: a product is repeated for {} s; give 0 or more",
                                   question.repeat_for_s));
  }
  BenchOptions options;
  options.type = question.type;
  options.layout = {question.transpose_a ? 't' : 'n', question.transpose_b ? 't' : 'n'};
  if (!question.epilogue.empty()) {
    const Result<Epilogue> epilogue = parse_epilogue(question.epilogue);
    if (!epilogue) return std::unexpected(epilogue.error());
    options.epilogue = *epilogue;
    options.epilogue_text = question.epilogue;
  }
  options.schedule = question.schedule;
  options.prepare = {.threads = question.threads, .device = Device::cpu};
  options.seed = question.seed;
  options.repeat_for_s = question.repeat_for_s;
  Suite suite;
  for (const BenchShape& s : question.shapes) {
    suite.shapes.push_back({s.name, s.m, s.n, s.k, s.batch});
  }
  const Result<std::vector<BenchRow>> rows = run_suite(suite, options);
  if (!rows) return std::unexpected(rows.error());
  std::vector<Measured> measured;
  for (const BenchRow& row : *rows) measured.push_back(measured_of(row));
  return measured;
}

Result<LadderMeasured> measure_ladder(const LadderQuestion& question) {
  LadderRequest request;
  request.problem = question.problem;
  request.schedules = question.schedules;
  request.skip_refused = question.schedules.empty();
  request.against_cublaslt = question.against_cublaslt;
  request.seed = question.seed;
  if (request.schedules.empty()) {
    auto all = ladder_schedules(question.problem);
    if (!all) return std::unexpected(all.error());
    request.schedules = *std::move(all);
  }
  const Result<Ladder> ladder = run_ladder(request);
  if (!ladder) return std::unexpected(ladder.error());

  LadderMeasured result;
  result.card = ladder->card.name;
  result.peak_tflops = ladder->peak_tflops;
  result.peak_source = ladder->peak_source;
  result.skipped = ladder->skipped;
  for (const LadderRow& row : ladder->rows) {
    Measured m = measured_of(ladder->problem, row.rung, row.measured.time, row.measured.error);
    m.schedule = row.measured.schedule.name;
    m.tflops = row.measured.tflops;
    m.share_of_peak = row.share_of_peak;
    m.ratio = row.ratio;
    result.rows.push_back(std::move(m));
  }
  if (const auto& rival = ladder->rival) {
    Measured m =
        measured_of(ladder->problem, rival->name + " " + rival->version, rival->time, rival->error);
    m.tflops = rival->tflops;
    m.schedule = rival->kernel;
    result.rival = std::move(m);
  }
  return result;
}

}  // namespace tilewise
