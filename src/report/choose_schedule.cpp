#include "report/choose_schedule.h"

#include <algorithm>

namespace tilewise {
namespace {

struct Candidate {
  const Schedule* schedule;
  Estimate estimate;
  bool exact = false;
};

// What the named kernels multiply: float32 on lanes; 16 bits with wmma; 16 bits and tf32 with mma;
// and wgmma's width along k, 32 bytes of its type, in the schedule.
bool serves(const Schedule& schedule, const Problem& problem, const Machine& machine) {
  if (schedule.device != machine.device) return false;
  switch (arithmetic_of(schedule)) {
    case Arithmetic::cpu:
      return true;
    case Arithmetic::lanes:
      return problem.type_a == Type::f32;
    case Arithmetic::mma:
      return size_bytes(problem.type_a) == 2 ||
             (problem.type_a == Type::f32 && schedule.kernel == "mma");
    case Arithmetic::wgmma:
      return true;
  }
  return false;
}

// Equal estimates keep the order of named_schedules(), which is one array.
bool faster(const Candidate& x, const Candidate& y) {
  if (x.estimate.time_us != y.estimate.time_us) return x.estimate.time_us < y.estimate.time_us;
  return x.schedule < y.schedule;
}

// On the CPU the register tile of this machine's instruction set decides.
bool for_this_target(const Schedule& schedule, const Problem& problem, const Machine& machine) {
  if (machine.device != Device::cpu) return true;
  const std::string type = problem.type_a == Type::f64 ? "f64" : "f32";
  return schedule.name.find(machine.architecture) != std::string::npos &&
         schedule.name.ends_with(type);
}

}  // namespace

Ranking rank_schedules(const Problem& problem, const Machine& machine) {
  Ranking ranking;
  std::vector<Candidate> candidates;
  for (const Schedule& schedule : named_schedules()) {
    if (!serves(schedule, problem, machine) || !for_this_target(schedule, problem, machine))
      continue;
    auto e = estimate(problem, schedule, machine, false);
    if (e) {
      candidates.push_back({&schedule, std::move(*e)});
    } else {
      ranking.refusal = e.error().message;
    }
  }
  std::sort(candidates.begin(), candidates.end(), faster);
  // Refine the first until it stays first.
  while (!candidates.empty() && !candidates.front().exact) {
    Candidate& first = candidates.front();
    if (auto e = estimate(problem, *first.schedule, machine)) first.estimate = std::move(*e);
    first.exact = true;
    std::sort(candidates.begin(), candidates.end(), faster);
  }
  if (!candidates.empty()) ranking.best = candidates.front().schedule;
  for (const Candidate& c : candidates) {
    ranking.alternatives.push_back({c.schedule->name, c.estimate.time_us, c.estimate.limiter});
  }
  return ranking;
}

}  // namespace tilewise
