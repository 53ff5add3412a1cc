// The shape of a launch and of its workspace, from what a kernel says of itself (LaunchInfo).
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/driver_types.h"
#include "parts/arguments.cuh"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

// Matrices of a batch that one launch of a kernel that is not persistent can take (grid z).
inline constexpr std::int64_t kMaxBatchOfLaunch = 65535;

// Output tiles of one matrix, rounded up to whole clusters along both dimensions.
[[nodiscard]] std::int64_t num_output_tiles(const Problem& problem, const LaunchInfo& info);

// Grid, block and shared memory of a launch over `batch` matrices; no stream, no attributes.
// Error: more tiles than a grid can have.
[[nodiscard]] Result<CuLaunchConfig> grid_of(const Problem& problem, std::int64_t batch,
                                             const Schedule& schedule, const LaunchInfo& info,
                                             int num_sms);

// Where things stand in the workspace, in bytes.
struct WorkspaceLayout {
  std::size_t zeroed_bytes = 0;  // from its start
  std::size_t bytes = 0;
};
[[nodiscard]] WorkspaceLayout workspace_of(const Problem& problem, std::int64_t batch,
                                           const LaunchInfo& info, const CuLaunchConfig& grid);

}  // namespace tilewise::gpu
