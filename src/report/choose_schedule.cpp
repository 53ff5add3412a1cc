#include "report/choose_schedule.h"

#include <algorithm>

namespace tilewise {
namespace {

struct Candidate {
  std::size_t index;  // among the named schedules
  Schedule schedule;
  Estimate estimate;
  bool exact = false;
};

// Equal estimates keep the order of named_schedules().
bool faster(const Candidate& x, const Candidate& y) {
  if (x.estimate.time_us != y.estimate.time_us) return x.estimate.time_us < y.estimate.time_us;
  return x.index < y.index;
}

// On the CPU the register tile of this machine's instruction set decides.
bool for_this_target(const Schedule& schedule, const Problem& problem, const Machine& machine) {
  if (machine.device != Device::cpu) return true;
  const std::string type = problem.type_a == Type::f64 ? "f64" : "f32";
  return schedule.name.find(machine.architecture) != std::string::npos &&
         schedule.name.ends_with(type);
}

// The message of estimate() without its first word.
std::string without_verb(const std::string& message) {
  constexpr std::string_view kVerb = "explain: ";
  return message.starts_with(kVerb) ? message.substr(kVerb.size()) : message;
}

}  // namespace

// Float32 on lanes; 16 bits and, by its name, tf32 on tensor cores; of the 8-bit types e4m3. (A
// test holds it against the lines "Needs" of the kernels.)
bool kernel_multiplies(const Schedule& schedule, const Problem& problem) {
  if (schedule.compute != problem.compute) return false;
  const Type type = problem.type_a;
  switch (arithmetic_of(schedule)) {
    case Arithmetic::cpu:
      return size_bytes(type) > 1;
    case Arithmetic::lanes:
      return type == Type::f32;
    case Arithmetic::mma:
    case Arithmetic::wgmma:
      if (schedule.kernel == "wgmma_fp8") return type == Type::f8e4m3;
      return schedule.compute == Compute::tf32 ? type == Type::f32 : size_bytes(type) == 2;
  }
  return false;
}

Ranking rank_schedules(const Problem& problem, const Machine& machine) {
  Ranking ranking;
  std::vector<Candidate> candidates;
  const auto named = named_schedules();
  for (std::size_t i = 0; i < named.size(); ++i) {
    const Schedule& schedule = named[i];
    if (schedule.device != machine.device || !kernel_multiplies(schedule, problem) ||
        !for_this_target(schedule, problem, machine)) {
      continue;
    }
    auto e = estimate(problem, schedule, machine, false);
    if (e) {
      candidates.push_back({i, schedule, std::move(*e)});
      continue;
    }
    auto& reasons =
        e.error().code == ErrorCode::missing_capability ? ranking.missing : ranking.refused;
    reasons.push_back({schedule.name, without_verb(e.error().message)});
    if (auto nearest = nearest_fit(problem, schedule, machine)) {
      if (auto smaller = estimate(problem, nearest->schedule, machine, false)) {
        candidates.push_back({i, std::move(nearest->schedule), std::move(*smaller)});
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(), faster);
  // Refine the first until it stays first.
  while (!candidates.empty() && !candidates.front().exact) {
    Candidate& first = candidates.front();
    if (auto e = estimate(problem, first.schedule, machine)) first.estimate = std::move(*e);
    first.exact = true;
    std::sort(candidates.begin(), candidates.end(), faster);
  }
  if (!candidates.empty()) ranking.best = candidates.front().schedule;
  for (const Candidate& c : candidates) {
    ranking.alternatives.push_back({c.schedule.name, c.estimate.time_us, c.estimate.limiter});
  }
  return ranking;
}

}  // namespace tilewise
