// Plans that run on a GPU.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "gpu/grid.h"
#include "gpu/kernel_cache.h"
#include "gpu/loaded_kernel.h"
#include "plan/plan_implementation.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

// The kernel of one problem and schedule, found or compiled, and loaded.
struct PreparedKernel {
  std::shared_ptr<const LoadedKernel> kernel;
  KernelOrigin origin = KernelOrigin::memory;
  int base_bytes = 1;  // that the bases of A and B must be multiples of
};
// aligned: whether bases are multiples of 16 bytes.
[[nodiscard]] Result<PreparedKernel> prepare_kernel(const Problem& problem,
                                                    const Schedule& schedule,
                                                    const GpuDevice& device, bool aligned = true);

// Belongs to no context: a run takes place in the context of its stream, or the caller's current
// one, on any device of the plan's architecture.
class GpuPlan : public PlanImplementation {
 public:
  GpuPlan(PlanDescription description, PreparedKernel kernel, const GpuDevice& device);

  // Enqueues and returns. Nothing is allocated unless the plan needs a workspace and is given none
  // (it then takes one in stream order). The first run whose bases are not multiples of 16 bytes,
  // where the strides are, finds or compiles a variant for it.
  [[nodiscard]] Result<void> run(const RunArguments& arguments) const override;

  [[nodiscard]] const LoadedKernel& kernel() const { return *kernel_.kernel; }
  [[nodiscard]] KernelOrigin origin() const { return kernel_.origin; }
  [[nodiscard]] const GpuDevice& device() const { return device_; }

 private:
  Result<const LoadedKernel*> kernel_for(const RunArguments& arguments) const;
  Result<void> launch(const LoadedKernel& kernel, KernelArguments arguments, CuStream stream) const;
  Result<void> launch_batches(const LoadedKernel& kernel, KernelArguments arguments,
                              CuStream stream) const;

  PreparedKernel kernel_;
  const GpuDevice& device_;
  mutable std::mutex mutex_;  // guards unaligned_
  mutable std::shared_ptr<const LoadedKernel> unaligned_;
};

// Checks, compiles and loads. schedule: null chooses. The device is that of the caller's current
// context, else the first. Errors: no driver, device or compiler (missing_capability); a schedule
// that asks for what its kernel does not have; layouts that a bulk copy cannot read.
[[nodiscard]] Result<std::shared_ptr<const GpuPlan>> make_plan(const Problem& problem,
                                                               const Schedule* schedule);

}  // namespace tilewise::gpu
