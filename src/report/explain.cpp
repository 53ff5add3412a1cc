#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/choose_schedule.h"
#include "report/try_changes.h"
#include "tilewise/plan.h"
#include "tilewise/report.h"
#include "tilewise/units.h"

namespace tilewise {
namespace {

constexpr double kSmallLoss = 0.9;  // a share of busy SMs or useful products that is worth a word

// The terms, largest first, equal ones by name. (A total order, here and wherever a result is
// sorted: libstdc++ 12's stable sort warns under clang.)
std::vector<TimeTerm> sorted_terms(const Estimate& e) {
  std::vector<TimeTerm> terms = e.terms;
  std::sort(terms.begin(), terms.end(), [](const auto& x, const auto& y) {
    return x.time_us != y.time_us ? x.time_us > y.time_us : x.name < y.name;
  });
  return terms;
}

Count num_outputs(const Problem& p) { return Count(p.m) * Count(p.n) * Count(p.batch); }
bool empty(const Problem& p) { return p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0; }

std::string limiter_sentence(const Report& r) {
  const Estimate& e = r.estimate;
  if (empty(r.problem)) {
    const bool writes = r.problem.k == 0 && num_outputs(r.problem) != Count(0);
    return writes ? "K is 0: nothing is multiplied, and D is the epilogue of 0."
                  : "A dimension is 0: nothing is multiplied or written.";
  }
  const std::vector<TimeTerm> terms = sorted_terms(e);
  if (terms.empty()) return "No rate of this machine is known, so nothing says what limits it.";
  std::string text = fmt::format("Limited by {}: {:.4g} us", terms[0].name, terms[0].time_us);
  if (terms.size() > 1) {
    text += fmt::format(", then {} with {:.4g} us", terms[1].name, terms[1].time_us);
  }
  if (terms[0].name != "DRAM" && terms[0].name != "L2" && r.machine.device == Device::gpu) {
    std::vector<std::string> losses;
    if (e.busy > 0 && e.busy < kSmallLoss) {
      losses.push_back(fmt::format("{} block{} keep{} {:.3g} % of {} SMs busy",
                                   e.waves.tiles.to_string(), e.waves.tiles == Count(1) ? "" : "s",
                                   e.waves.tiles == Count(1) ? "s" : "", 100 * e.busy,
                                   r.machine.num_units));
    }
    if (e.padding_efficiency > 0 && e.padding_efficiency < kSmallLoss) {
      losses.push_back(
          fmt::format("{:.3g} % of the products are padding", 100 * (1 - e.padding_efficiency)));
    }
    for (std::size_t i = 0; i < losses.size(); ++i) text += (i == 0 ? "; " : ", and ") + losses[i];
  }
  return text + ".";
}

std::string remedy_sentence(const Report& r) {
  const Estimate& e = r.estimate;
  if (empty(r.problem) || e.terms.empty()) return {};
  if (!r.changes.empty()) {
    const Alternative& best = r.changes.front();
    return fmt::format("What would change it: {}, {:.4g} us instead of {:.4g} (then {} limits).",
                       best.what, best.time_us, e.time_us, best.limiter);
  }
  if (!r.schedules.empty() && r.schedules.front().time_us < 0.97 * e.time_us) {
    return fmt::format("What would change it: schedule \"{}\", {:.4g} us instead of {:.4g}.",
                       r.schedules.front().what, r.schedules.front().time_us, e.time_us);
  }
  if (e.limiter == "DRAM") {
    return "What would change it: fewer bytes (a smaller type, a fused neighbour) or more rows to "
           "share them; the bytes that must move take this long.";
  }
  const bool idle = e.busy > 0 && (e.busy < kSmallLoss || e.padding_efficiency < kSmallLoss);
  if (idle && e.limiter == "arithmetic") {
    return "What would change it: more outputs to fill the machine and its tiles (a larger batch); "
           "no "
           "single change of this schedule gains 3 %.";
  }
  if (e.limiter == "arithmetic") {
    return "What would change it: cheaper arithmetic alone (a smaller type, or a named lower "
           "compute); the units are busy.";
  }
  return "What would change it: no single change of this schedule gains 3 %.";
}

// What the CPU would run, where it is this machine's.
Result<Schedule> cpu_schedule(const Problem& problem, const Machine& machine) {
  PrepareOptions options;
  options.device = Device::cpu;
  const auto plan = prepare(problem, nullptr, machine, options);
  if (!plan) return std::unexpected(plan.error());
  return plan->schedule();
}

// A rung of the ladder is counted by its kernel's own address functions; the estimate's rows stand
// for every other schedule.
void use_exact_units(Report& r) {
  if (r.schedule.device != Device::gpu) return;
  const auto counted = count_units(r.problem, r.schedule);
  if (!counted || counted->rows.empty()) return;
  std::erase_if(r.estimate.traffic.rows, [](const TrafficRow& row) {
    return row.quantity == Quantity::issued || row.quantity == Quantity::units;
  });
  std::ranges::copy(counted->rows, std::back_inserter(r.estimate.traffic.rows));
}

// No named schedule: because no kernel multiplies the types, or because those that do are refused.
Error nothing_fits(const Problem& p, const Machine& machine, const Ranking& ranking) {
  std::string text =
      fmt::format("explain: no named schedule multiplies {} with compute {} on machine \"{}\"",
                  to_string(p.type_a), to_string(p.compute), machine.name);
  if (!ranking.refused.empty()) {
    return {ErrorCode::bad_request, text + ": " + ranking.refused.front().why};
  }
  if (!ranking.missing.empty()) {
    return {ErrorCode::missing_capability, text + ": " + ranking.missing.front().why};
  }
  text += machine.device == Device::gpu
              ? "; GPU kernels multiply f32 (compute f32 or tf32), bf16, f16 and f8e4m3 (compute "
                "f32)"
              : "; the CPU's multiply f64 (compute f64), f32, bf16 and f16 (compute f32)";
  if (p.type_a == Type::f64 && machine.device == Device::gpu) {
    text += "; f64 runs on machine \"host\"";
  }
  return {ErrorCode::bad_request, text};
}

}  // namespace

Result<Report> explain(const Problem& problem, const Schedule* schedule, const Machine& machine) {
  if (auto ok = validate(problem); !ok) return std::unexpected(ok.error());
  Report r;
  r.problem = problem;
  r.machine = machine;
  const Ranking ranking = rank_schedules(problem, machine);
  r.schedules = ranking.alternatives;
  r.refused = ranking.refused;
  if (schedule != nullptr) {
    r.schedule = *schedule;
  } else {
    r.chosen = true;
    if (machine.device == Device::cpu && machine.name == "host") {
      auto taken = cpu_schedule(problem, machine);
      if (!taken) return std::unexpected(taken.error());
      r.schedule = std::move(*taken);
    } else if (ranking.best) {
      r.schedule = *ranking.best;
    } else {
      return std::unexpected(nothing_fits(problem, machine, ranking));
    }
  }
  auto e = estimate(problem, r.schedule, machine);
  if (!e) return std::unexpected(e.error());
  r.estimate = std::move(*e);
  use_exact_units(r);
  r.changes = try_changes(problem, r.schedule, machine, r.estimate);
  r.limiter = limiter_sentence(r);
  r.remedy = remedy_sentence(r);
  return r;
}

}  // namespace tilewise
