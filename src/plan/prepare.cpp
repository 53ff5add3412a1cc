#include <string>

#include "cpu/cpu_plan.h"
#include "gpu/gpu_plan.h"
#include "tilewise/plan.h"

namespace tilewise {
namespace {

// The device asked for, by the options first, then the schedule, then the machine.
Device choose_device(const Schedule* schedule, const Machine& machine,
                     const PrepareOptions& options) {
  if (options.device) return *options.device;
  if (schedule != nullptr) return schedule->device;
  return machine.device;
}

Result<void> check_request(const Problem& problem, const Schedule* schedule, Device device,
                           const PrepareOptions& options) {
  if (auto ok = validate(problem); !ok) return ok;
  if (schedule != nullptr) {
    if (auto ok = validate(*schedule); !ok) return ok;
    if (schedule->device != device) {
      return bad_request("prepare: schedule \"" + schedule->name + "\" is for the " +
                         std::string(to_string(schedule->device)) + ", but device is " +
                         std::string(to_string(device)) +
                         "; take a schedule of that device, or none");
    }
  }
  if (options.threads < 0) {
    return bad_request("prepare: threads is " + std::to_string(options.threads) +
                       "; valid are 1 and more, or 0 for all that this process may use");
  }
  return {};
}

}  // namespace

Result<Plan> prepare(const Problem& problem, const Schedule* schedule, const Machine& machine,
                     const PrepareOptions& options) {
  const Device device = choose_device(schedule, machine, options);
  if (auto ok = check_request(problem, schedule, device, options); !ok) {
    return std::unexpected(ok.error());
  }
  if (device == Device::gpu) {
    auto plan = gpu::make_plan(problem, schedule);
    if (!plan) return std::unexpected(plan.error());
    return Plan(std::move(*plan));
  }
  auto implementation = cpu::make_plan(problem, schedule, machine, options);
  if (!implementation) return std::unexpected(implementation.error());
  return Plan(std::move(*implementation));
}

}  // namespace tilewise
