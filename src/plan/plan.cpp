#include "tilewise/plan.h"

#include <utility>

#include "plan/check_arguments.h"
#include "plan/plan_implementation.h"

namespace tilewise {

Plan::Plan(std::shared_ptr<const PlanImplementation> implementation)
    : implementation_(std::move(implementation)) {}

const Problem& Plan::problem() const { return implementation_->description().problem; }
const Schedule& Plan::schedule() const { return implementation_->description().schedule; }
Device Plan::device() const { return implementation_->description().device; }
std::string_view Plan::target() const { return implementation_->description().target; }
int Plan::threads() const { return implementation_->description().threads; }
std::size_t Plan::workspace_bytes() const { return implementation_->description().workspace_bytes; }

Result<void> Plan::run(const void* a, const void* b, const void* c, void* d,
                       std::span<const void* const> operands, std::span<std::byte> workspace,
                       void* stream) const {
  const RunArguments arguments{.a = a,
                               .b = b,
                               .c = c,
                               .d = d,
                               .operands = operands,
                               .workspace = workspace,
                               .stream = stream};
  const PlanDescription& description = implementation_->description();
  const Problem& p = description.problem;
  if (auto ok = check_arguments(p, description.workspace_bytes, arguments); !ok) return ok;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return {};
  return implementation_->run(arguments);
}

}  // namespace tilewise
