// Plans that run on this machine's CPU.
#pragma once

#include <memory>

#include "plan/plan_implementation.h"
#include "tilewise/machine.h"
#include "tilewise/plan.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise::cpu {

// The problem and the schedule (may be null) have passed validate. Caches are the machine's where
// it describes a CPU, this machine's otherwise.
[[nodiscard]] Result<std::shared_ptr<const PlanImplementation>> make_plan(
    const Problem& problem, const Schedule* schedule, const Machine& machine,
    const PrepareOptions& options);

}  // namespace tilewise::cpu
