// What a device's side of the library implements. The CPU's is src/cpu/cpu_plan.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

// The arguments of one Plan::run, as the caller gave them.
struct RunArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  std::span<const void* const> operands;
  std::span<std::byte> workspace;
  void* stream = nullptr;
};

// What a plan says of itself.
struct PlanDescription {
  Problem problem;
  Schedule schedule;  // resolved: what really runs
  Device device = Device::cpu;
  std::string target;
  int threads = 1;
  std::size_t workspace_bytes = 0;
};

// Immutable after construction; run is called from several threads at once.
class PlanImplementation {
 public:
  explicit PlanImplementation(PlanDescription description) : description_(std::move(description)) {}
  virtual ~PlanImplementation() = default;
  PlanImplementation(const PlanImplementation&) = delete;
  PlanImplementation& operator=(const PlanImplementation&) = delete;

  [[nodiscard]] const PlanDescription& description() const { return description_; }

  // Called by Plan::run after check_arguments has passed and only where D has elements.
  [[nodiscard]] virtual Result<void> run(const RunArguments& arguments) const = 0;

 private:
  PlanDescription description_;
};

}  // namespace tilewise
