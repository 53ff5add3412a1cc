#include "gpu/choose_schedule.h"

#include <span>
#include <string>

#include "gpu/tensor_maps.h"
#include "tilewise/estimate.h"
#include "tilewise/machine.h"

namespace tilewise::gpu {
namespace {

// By name, fastest first. A schedule that copies in bulk is passed over where it cannot.
std::span<const std::string_view> candidates(Type type, Compute compute) {
  static constexpr std::string_view kFloat32[] = {"tuned_f32"};
  static constexpr std::string_view kTensorFloat32[] = {"wgmma_pipeline_tf32", "mma_tf32"};
  static constexpr std::string_view kHalf[] = {"wgmma_pipeline", "mma"};
  static constexpr std::string_view kFloat8[] = {"wgmma_fp8"};
  switch (type) {
    case Type::f32:
      if (compute == Compute::f32) return kFloat32;
      if (compute == Compute::tf32) return kTensorFloat32;
      return {};
    case Type::bf16:
    case Type::f16:
      if (compute == Compute::f32) return kHalf;
      return {};
    case Type::f8e4m3:
      if (compute == Compute::f32) return kFloat8;
      return {};
    default:
      return {};
  }
}

// The named schedules are made for the shared memory of sm_90a; a machine with less takes fewer
// stages, or a smaller block.
Schedule fitted(const Problem& problem, const Schedule& schedule, std::string_view architecture) {
  for (const Machine& machine : named_machines()) {
    if (machine.architecture != architecture) continue;
    if (const auto nearest = nearest_fit(problem, schedule, machine)) return nearest->schedule;
    break;
  }
  return schedule;
}

}  // namespace

Result<Schedule> choose_schedule(const Problem& problem, std::string_view architecture) {
  const auto names = candidates(problem.type_a, problem.compute);
  if (names.empty()) {
    return bad_request("matmul: no GPU kernel multiplies " +
                       std::string(to_string(problem.type_a)) + " with compute " +
                       std::string(to_string(problem.compute)) +
                       "; valid are f32 (compute f32 or tf32), bf16, f16 and f8e4m3 (compute f32)");
  }
  Result<Schedule> chosen;
  for (const std::string_view name : names) {
    chosen = find_schedule(name);
    if (!chosen && name != names.back()) continue;
    if (!chosen) return chosen;
    if (chosen->copy != Copy::bulk) return fitted(problem, *chosen, architecture);
    const auto bulk = check_bulk_strides(problem);
    if (bulk && architecture == "sm_90a") return chosen;
    if (name != names.back()) continue;
    if (!bulk) return std::unexpected(bulk.error());
    return missing_capability("matmul: " + std::string(to_string(problem.type_a)) +
                              " needs sm_90a; this GPU is " + std::string(architecture));
  }
  return chosen;
}

}  // namespace tilewise::gpu
