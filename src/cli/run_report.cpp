#include "cli/run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/level_table.h"
#include "io/json_writer.h"
#include "io/text_table.h"
#include "report/epilogue_traffic.h"

namespace tilewise::cli {
namespace {

constexpr double kMicroseconds = 1e6;

std::string readable_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * kMicroseconds);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string head_text(const RunReport& report) {
  const Problem& p = report.inputs.problem;
  const ProductReport& product = report.product;
  std::string text = fmt::format("C[{0},{1}] = A[{0},{2}] B[{2},{1}], {3} (compute {4})\n", p.m,
                                 p.n, p.k, to_string(p.type_a), to_string(p.compute));
  if (!p.epilogue.is_identity()) text += fmt::format("epilogue {}\n", report.inputs.epilogue);
  const std::string where = product.device == Device::gpu
                                ? fmt::format("gpu ({}, {})", product.card, product.target)
                                : fmt::format("cpu ({}, {} thread{})", product.target,
                                              product.threads, product.threads == 1 ? "" : "s");
  text += fmt::format("schedule {} on {}: {}\n\n", product.schedule.name, where,
                      describe_tiles(product.schedule));
  return text;
}

std::string speed_text(const ProductReport& product) {
  std::string text = fmt::format("  time    {}", readable_seconds(product.seconds));
  if (product.num_runs > 1) {
    text +=
        fmt::format(", median of {} ({} to {})", product.num_runs,
                    readable_seconds(product.low_seconds), readable_seconds(product.high_seconds));
  }
  text += fmt::format("\n  speed   {:.1f} GFLOP/s", product.gflops);
  if (product.peak_gflops > 0 && product.gflops > 0) {
    const std::string peak = product.device == Device::gpu
                                 ? fmt::format("of its peak ({})", product.peak_source)
                                 : "that a register loop reached in this run";
    text += fmt::format(", {:.0f} % of the {:.1f} GFLOP/s {}", 100 * product.share_of_peak,
                        product.peak_gflops, peak);
  }
  return text + '\n';
}

std::string check_text(const Verification& v) {
  if (v.mode == VerifyMode::none) return "  error   not checked (--verify none)\n";
  std::string text = fmt::format("  error   {:.3g} at most", v.max_error);
  if (v.num_checked > 0 && std::isfinite(v.worst.expected.error)) {
    text += fmt::format("; the element nearest to its bound, [{},{}], is off by {:.3g} of {:.3g}",
                        v.worst.m, v.worst.n, v.worst_error(), v.worst.expected.error);
  }
  text += fmt::format("\n  checked {} of {} elements ({}) in {}: {}\n",
                      grouped_digits(fmt::to_string(v.num_checked)),
                      grouped_digits(fmt::to_string(v.num_elements)), to_string(v.mode),
                      readable_seconds(v.seconds),
                      v.passed() ? "all within the bound" : fmt::format("{} WRONG", v.num_wrong));
  return text;
}

void write_verification(JsonWriter& w, const Verification& v) {
  w.key("verified");
  v.mode == VerifyMode::none ? w.null() : w.value(v.passed());
  w.member("verify", to_string(v.mode));
  w.member("elements", v.num_elements);
  w.member("checked", v.num_checked);
  w.member("wrong", v.num_wrong);
  w.member("max_error", v.worst_error());
  w.member("error_bound", v.worst.expected.error);
  w.member("share_of_bound", v.worst_share);
  w.key("worst");
  w.begin_object(JsonWriter::Layout::line);
  w.member("m", v.worst.m);
  w.member("n", v.worst.n);
  w.member("computed", v.worst.computed);
  w.member("expected", v.worst.expected.value);
  w.end_object();
  w.member("verify_s", v.seconds);
}

void write_speed(JsonWriter& w, const ProductReport& product) {
  w.member("time_us", product.seconds * kMicroseconds);
  w.member("low_us", product.low_seconds * kMicroseconds);
  w.member("high_us", product.high_seconds * kMicroseconds);
  w.member("first_us", product.first_seconds * kMicroseconds);
  w.member("runs", product.num_runs);
  w.member("gflops", product.gflops);
  w.member("tflops", product.gflops / 1e3);
  w.member("peak_gflops", product.peak_gflops);
  w.member("share_of_peak", product.share_of_peak);
}

}  // namespace

std::string run_text(const RunReport& report) {
  const CountReport& counted = report.product.counted;
  std::string text = head_text(report) + speed_text(report.product) +
                     check_text(report.product.verification) + '\n' +
                     level_table(report.product.schedule, counted);
  text += fmt::format("  minimum {} elements: A and B once\n",
                      grouped_digits(counted.minimum.to_string()));
  if (report.product.bound_elements > 0) {
    text += fmt::format("  bound   {} elements: no schedule reads fewer from dram\n",
                        grouped_digits(fmt::format("{:.0f}", report.product.bound_elements)));
  }
  text += epilogue_cost_text(report.inputs.problem) + '\n';
  if (!report.output.empty()) text += fmt::format("  wrote   {}\n", report.output);
  return text + fmt::format("  repeat  {}\n", report.repeat);
}

std::string run_json(const RunReport& report, const Console& console) {
  const Problem& p = report.inputs.problem;
  const ProductReport& product = report.product;
  JsonWriter w;
  begin_document(w, "tilewise.run/1", console, report.inputs.data);
  w.member("m", p.m);
  w.member("n", p.n);
  w.member("k", p.k);
  w.member("dtype", to_string(p.type_a));
  w.member("compute", to_string(p.compute));
  w.member("epilogue", report.inputs.epilogue);
  w.member("schedule", product.schedule.name);
  w.member("device", to_string(product.device));
  w.member("target", product.target);
  if (product.device == Device::gpu) w.member("card", product.card);
  if (product.power_w > 0) w.member("power_w", product.power_w);
  if (product.clock_mhz > 0) w.member("clock_mhz", product.clock_mhz);
  w.member("threads", product.threads);
  write_speed(w, product);
  write_verification(w, product.verification);
  w.member("naive", product.counted.naive);
  w.member("tiled", product.counted.tiled);
  w.member("minimum", product.counted.minimum);
  w.key("bound");
  product.bound_elements > 0 ? w.value(product.bound_elements) : w.null();
  write_levels(w, product.counted);
  write_epilogue_cost(w, p);
  w.key("output");
  report.output.empty() ? w.null() : w.value(report.output);
  w.member("repeat", report.repeat);
  w.end_object();
  return std::move(w).finish();
}

std::string failure_sentence(const Verification& v) {
  return fmt::format("{} of {} checked elements are wrong: D[{},{}] is {}, expected {} +- {:.3g}",
                     v.num_wrong, v.num_checked, v.worst.m, v.worst.n, v.worst.computed,
                     v.worst.expected.value, v.worst.expected.error);
}

}  // namespace tilewise::cli
