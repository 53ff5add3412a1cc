#include "gpu/grid.h"

#include <algorithm>
#include <limits>
#include <string>

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kMaxGridX = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kCounterAlignment = 256;

std::int64_t whole_clusters(std::int64_t extent, int tile, int cluster) {
  const std::int64_t span = std::int64_t{tile} * cluster;
  return (extent + span - 1) / span * cluster;
}

}  // namespace

std::int64_t num_output_tiles(const Problem& problem, const LaunchInfo& info) {
  return whole_clusters(problem.m, info.tile_m, info.cluster_m) *
         whole_clusters(problem.n, info.tile_n, info.cluster_n);
}

Result<CuLaunchConfig> grid_of(const Problem& problem, std::int64_t batch, const Schedule& schedule,
                               const LaunchInfo& info, int num_sms) {
  const std::int64_t tiles = num_output_tiles(problem, info);
  const std::int64_t ways = std::max(schedule.split_k.ways, 1);
  const std::int64_t cluster = std::int64_t{info.cluster_m} * info.cluster_n;
  CuLaunchConfig grid;
  grid.block_x = static_cast<unsigned>(info.threads);
  grid.shared_bytes = static_cast<unsigned>(info.shared_bytes);
  std::int64_t x = tiles;
  if (info.persistent) {
    // Blocks that are resident at once; with stream-K all of them share the work.
    const std::int64_t resident = std::int64_t{num_sms} * info.blocks_per_sm / cluster * cluster;
    const std::int64_t items = tiles * ways * batch;
    x = schedule.stream_k ? resident : std::min(items, resident);
  } else {
    grid.grid_y = static_cast<unsigned>(ways);
    grid.grid_z = static_cast<unsigned>(batch);
  }
  if (x > kMaxGridX) {
    return bad_request("matmul: " + std::to_string(problem.m) + " x " + std::to_string(problem.n) +
                       " outputs are " + std::to_string(x) + " tiles of " +
                       std::to_string(info.tile_m) + " x " + std::to_string(info.tile_n) +
                       ", and a launch has at most " + std::to_string(kMaxGridX) +
                       " blocks; take a schedule with larger tiles");
  }
  grid.grid_x = static_cast<unsigned>(x);
  return grid;
}

WorkspaceLayout workspace_of(const Problem& problem, std::int64_t batch, const LaunchInfo& info,
                             const CuLaunchConfig& grid) {
  const auto tiles = static_cast<std::size_t>(num_output_tiles(problem, info) * batch);
  const auto tile_bytes =
      static_cast<std::size_t>(info.tile_m) * static_cast<std::size_t>(info.tile_n) * sizeof(float);
  const std::size_t blocks = std::size_t{grid.grid_x} * grid.grid_y * grid.grid_z;
  const std::size_t counters =
      tiles * static_cast<std::size_t>(info.counters_per_tile) * sizeof(std::uint32_t);
  const std::size_t partials = (tiles * static_cast<std::size_t>(info.partials_per_tile) +
                                blocks * static_cast<std::size_t>(info.partials_per_block)) *
                               tile_bytes;
  const std::size_t first_partial =
      (counters + kCounterAlignment - 1) / kCounterAlignment * kCounterAlignment;
  WorkspaceLayout layout;
  layout.bytes = first_partial + partials;
  layout.zeroed_bytes = info.zero_partials ? layout.bytes : counters;
  return layout;
}

}  // namespace tilewise::gpu
