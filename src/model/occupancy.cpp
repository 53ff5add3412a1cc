#include "tilewise/occupancy.h"

#include <algorithm>

#include "model/check_sizes.h"

namespace tilewise {
namespace {

constexpr std::int64_t kWarpThreads = 32;
constexpr std::int64_t kRegisterUnit = 256;  // registers are allocated to a warp in these
constexpr std::int64_t kSubPartitions = 4;   // of an SM; a warp lives in one
constexpr std::int64_t kSharedUnit = 128;    // bytes

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }
std::int64_t round_up(std::int64_t x, std::int64_t unit) { return divide_up(x, unit) * unit; }

std::int64_t registers_per_warp(const BlockResources& block) {
  return round_up(kWarpThreads * std::max<std::int64_t>(block.registers_per_thread, 1),
                  kRegisterUnit);
}

std::int64_t num_warps(const BlockResources& block) {
  return divide_up(block.threads, kWarpThreads);
}

}  // namespace

Result<Occupancy> occupancy(const Limits& limits, const BlockResources& block) {
  if (limits.registers_per_sm < 1 || limits.warps_per_sm < 1 || limits.shared_bytes_per_sm < 1) {
    return bad_request("occupancy: the machine states no limits of an SM; it applies to GPUs");
  }
  if (block.threads < 1) {
    return bad_request("occupancy: threads is " + std::to_string(block.threads) +
                       "; a block has 1 or more");
  }
  const std::int64_t warps = num_warps(block), per_warp = registers_per_warp(block);
  const std::int64_t per_partition = limits.registers_per_sm / kSubPartitions;
  Occupancy result;
  if (per_warp * round_up(warps, kSubPartitions) <= limits.registers_per_sm &&
      block.registers_per_thread <= limits.registers_per_thread) {
    result.by_registers = per_partition / per_warp * kSubPartitions / warps;
  }
  if (block.shared_bytes <= limits.shared_bytes_per_block) {
    const std::int64_t shared =
        round_up(block.shared_bytes + limits.shared_bytes_reserved, kSharedUnit);
    result.by_shared = shared == 0 ? limits.blocks_per_sm : limits.shared_bytes_per_sm / shared;
  }
  if (block.threads <= limits.threads_per_block) result.by_warps = limits.warps_per_sm / warps;
  result.by_blocks = limits.blocks_per_sm;

  const std::pair<std::int64_t, const char*> by[] = {{result.by_registers, "registers"},
                                                     {result.by_shared, "shared memory"},
                                                     {result.by_warps, "warps"},
                                                     {result.by_blocks, "blocks"}};
  const auto& least = *std::min_element(
      std::begin(by), std::end(by), [](const auto& x, const auto& y) { return x.first < y.first; });
  result.blocks_per_sm = least.first;
  result.limiter = least.second;
  result.occupancy =
      static_cast<double>(result.blocks_per_sm * warps) / static_cast<double>(limits.warps_per_sm);
  return result;
}

std::vector<ExceededLimit> exceeded_limits(const Limits& limits, const BlockResources& block) {
  std::vector<ExceededLimit> exceeded;
  auto check = [&](const char* name, std::int64_t asked, std::int64_t allowed) {
    if (asked > allowed) exceeded.push_back({name, asked, allowed});
  };
  check("threads a block", block.threads, limits.threads_per_block);
  check("registers a thread", block.registers_per_thread, limits.registers_per_thread);
  check("registers an SM", registers_per_warp(block) * round_up(num_warps(block), kSubPartitions),
        limits.registers_per_sm);
  check("shared memory a block", block.shared_bytes, limits.shared_bytes_per_block);
  return exceeded;
}

Result<Waves> waves(Count tiles, std::int64_t slots) {
  if (slots < 1) {
    return bad_request("waves: slots is " + std::to_string(slots) +
                       "; at least one block must fit the machine");
  }
  Waves result;
  result.tiles = tiles;
  if (tiles == Count(0)) return result;
  result.waves = ceil_div(tiles, slots);
  result.fraction = tiles.to_double() / static_cast<double>(slots);
  result.efficiency = result.fraction / result.waves.to_double();
  return result;
}

Result<double> padding_efficiency(std::int64_t m, std::int64_t n, std::int64_t k,
                                  std::int64_t block_m, std::int64_t block_n,
                                  std::int64_t block_k) {
  if (auto ok = check_sizes("padding", m, n, k); !ok) return std::unexpected(ok.error());
  if (block_m < 1 || block_n < 1 || block_k < 1) {
    return bad_request("padding: the block is " + std::to_string(block_m) + " x " +
                       std::to_string(block_n) + " x " + std::to_string(block_k) +
                       "; extents are 1 or more");
  }
  auto share = [](std::int64_t size, std::int64_t block) {
    return static_cast<double>(size) / (Count(block) * ceil_div(size, block)).to_double();
  };
  if (m == 0 || n == 0 || k == 0) return 0.0;
  return share(m, block_m) * share(n, block_n) * share(k, block_k);
}

}  // namespace tilewise
