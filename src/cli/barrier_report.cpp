#include "cli/barrier_report.h"

#include <fmt/format.h>

#include <optional>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "io/json_writer.h"

namespace tilewise::cli {
namespace {

struct WrongElement {
  std::int64_t m = 0, n = 0;
  double computed = 0, expected = 0;
};

std::optional<WrongElement> first_wrong(const BarrierRun& run) {
  if (run.report.first_wrong < 0) return std::nullopt;
  const auto index = static_cast<std::size_t>(run.report.first_wrong);
  return WrongElement{run.report.first_wrong / run.problem.n,
                      run.report.first_wrong % run.problem.n, run.report.d[index],
                      run.report.expected[index]};
}

}  // namespace

std::string barrier_json(const BarrierRun& run, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.barriers/1", console, fmt::format("normal, seed {}", run.seed));
  w.member("m", run.problem.m);
  w.member("n", run.problem.n);
  w.member("k", run.problem.k);
  w.member("tiles", describe_tiles(run.schedule));
  w.member("without_barrier", run.missing == MissingBarrier::after_load ? 1 : 2);
  w.member("wrong_elements", run.report.wrong_elements);
  w.member("max_error", run.report.max_error);
  w.key("first_wrong");
  if (const std::optional<WrongElement> wrong = first_wrong(run)) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("m", wrong->m);
    w.member("n", wrong->n);
    w.member("computed", wrong->computed);
    w.member("expected", wrong->expected);
    w.end_object();
  } else {
    w.null();
  }
  w.member("first_fault", run.report.first_fault);
  w.end_object();
  return std::move(w).finish();
}

std::string barrier_text(const BarrierRun& run) {
  const bool first = run.missing == MissingBarrier::after_load;
  std::string text = fmt::format(
      "{} x {} x {}, {}, without barrier {}, which keeps a warp from {}\n"
      "order of the warps: each {} in turn\n\n"
      "  wrong elements  {} of {}\n"
      "  max error       {:.3g}\n",
      run.problem.m, run.problem.n, run.problem.k, describe_tiles(run.schedule), first ? 1 : 2,
      first ? "reading a tile before it is filled" : "refilling a tile still in use",
      first ? "loads and multiplies" : "multiplies and loads the next phase",
      run.report.wrong_elements, run.problem.m * run.problem.n, run.report.max_error);
  if (const std::optional<WrongElement> wrong = first_wrong(run)) {
    text += fmt::format("  first wrong     D[{},{}] is {:.6g}, right is {:.6g}\n", wrong->m,
                        wrong->n, wrong->computed, wrong->expected);
  }
  return text + fmt::format("  first fault     {}\n", run.report.first_fault.empty()
                                                          ? "none at this size"
                                                          : run.report.first_fault);
}

}  // namespace tilewise::cli
