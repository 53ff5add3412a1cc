// A plan: a product prepared once and run many times.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tilewise/machine.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"

namespace tilewise {

struct PrepareOptions {
  int threads = 0;  // 0: the affinity mask and the container's quota decide
  // Instruction set by name ("avx2", "avx512", "sse4", "neon"); "": the best here.
  std::string_view target = {};
  std::optional<Device> device = {};  // not set: the GPU where there is one that can, else the CPU
};

// What a device's side of the library implements (src/cpu/cpu_plan.h, src/gpu/gpu_plan.h).
class PlanImplementation;

// Immutable and thread-safe: one plan may run on several threads at once, each with its own
// workspace.
class Plan {
 public:
  explicit Plan(std::shared_ptr<const PlanImplementation> implementation);

  [[nodiscard]] const Problem& problem() const;
  [[nodiscard]] const Schedule& schedule() const;  // what really runs; never a silent fallback
  [[nodiscard]] Device device() const;
  [[nodiscard]] std::string_view target() const;  // "avx2", "sm_90a", ...
  [[nodiscard]] int threads() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

  // Computes D. Pointers are to element (0,0) of batch 0; operands in the order of
  // problem().epilogue.operands. On the GPU they are device pointers, stream a CUstream (null: the
  // default one), and the call only enqueues.
  // workspace: at least workspace_bytes(), any alignment; empty: the plan takes it from its own
  // pool (the only case in which run may allocate). Errors: null pointers that would be read,
  // partial overlap of D with C, A, B or an operand, a workspace too small. Nothing is written on
  // error.
  [[nodiscard]] Result<void> run(const void* a, const void* b, const void* c, void* d,
                                 std::span<const void* const> operands = {},
                                 std::span<std::byte> workspace = {}, void* stream = nullptr) const;

 private:
  std::shared_ptr<const PlanImplementation> implementation_;
};

// Chooses (where schedule is not given), checks, compiles and caches. Errors: an invalid problem or
// schedule, a schedule that asks for what its kernel does not have (the message names one that has
// it), no such device or instruction set.
[[nodiscard]] Result<Plan> prepare(const Problem& problem, const Schedule* schedule,
                                   const Machine& machine, const PrepareOptions& options = {});

}  // namespace tilewise
