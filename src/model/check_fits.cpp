// Whether a schedule can be launched on a machine; if not, the nearest that can.
#include <algorithm>
#include <optional>
#include <tuple>

#include "tilewise/estimate.h"

namespace tilewise {
namespace {

std::string named(const Schedule& s) {
  return s.name.empty() ? "this schedule" : "schedule \"" + s.name + "\"";
}

// The architecture that the schedule's instructions need, as a sentence; empty: the machine has it.
std::string missing_instruction(const Problem& p, const Schedule& s, int capability) {
  const Arithmetic arithmetic = arithmetic_of(s);
  if (arithmetic == Arithmetic::wgmma && capability != 90) {
    return "wgmma, which sm_90 alone has; take schedule \"mma\"";
  }
  if (s.copy == Copy::bulk && capability < 90) {
    return "bulk copies, which sm_90 and later have; take copy \"cp_async\"";
  }
  if ((s.cluster.m > 1 || s.cluster.n > 1) && capability < 90) {
    return "clusters, which sm_90 and later have; take a cluster of 1 x 1";
  }
  if (s.copy == Copy::cp_async && capability < 80) {
    return "cp.async, which sm_80 and later have; take copy \"direct\"";
  }
  if (arithmetic == Arithmetic::mma && size_bytes(p.type_a) == 1 && capability < 89) {
    return "8-bit tensor instructions, which sm_89 and later have; take bf16";
  }
  return {};
}

bool launches(const Problem& p, const Schedule& s, const Limits& limits) {
  const auto f = footprint(p, s);
  return f && exceeded_limits(limits, f->block).empty();
}

// wgmma reads 32 bytes of k at a time; empty: the schedule's instruction does.
std::string wrong_instruction(const Problem& p, const Schedule& s) {
  if (arithmetic_of(s) != Arithmetic::wgmma) return {};
  constexpr std::int64_t kInstructionBytes = 32;
  const std::int64_t k = kInstructionBytes / size_bytes(p.type_a);
  const std::int64_t given = find_tile(s, Level::instruction)->k;
  if (given == k) return {};
  return "the instruction of " + named(s) + " has k = " + std::to_string(given) +
         ", and wgmma of " + std::string(to_string(p.type_a)) + " has k = " + std::to_string(k) +
         "; take a schedule with that, or schedule \"mma\"";
}

// Bulk copies need rows that start on multiples of 16 bytes; empty: both operands have them.
std::string unaligned_rows(const Problem& p, const Schedule& s) {
  if (s.copy != Copy::bulk) return {};
  constexpr std::int64_t kAlignmentBytes = 16;
  const std::tuple<const char*, const Strides&, Type> operands[] = {{"A", p.a, p.type_a},
                                                                    {"B", p.b, p.type_b}};
  for (const auto& [name, strides, type] : operands) {
    const std::int64_t stride = strides.column == 1 ? strides.row : strides.column;
    const std::int64_t unit = kAlignmentBytes / size_bytes(type);
    if (stride % unit == 0) continue;
    return std::string("row stride of ") + name + " is " + std::to_string(stride) + " " +
           std::string(to_string(type)) + " elements (" +
           std::to_string(stride * size_bytes(type)) +
           " bytes), not a multiple of 16 bytes, which the bulk copy needs; pad to " +
           std::to_string((stride / unit + 1) * unit) + ", or take schedule \"mma\"";
  }
  return {};
}

Tile* block_of(Schedule& s) {
  for (Tile& tile : s.tiles) {
    if (tile.level == Level::block) return &tile;
  }
  return nullptr;
}

// Halves one extent of the block while it stays a multiple of the tile inside; false: it cannot.
bool halve(Schedule& s, std::int64_t Tile::* extent) {
  Tile* block = block_of(s);
  if (block == nullptr || block->*extent < 2 || (block->*extent) % 2 != 0) return false;
  const std::int64_t half = block->*extent / 2;
  for (Tile& tile : s.tiles) {
    if (tile.level == Level::block || tile.*extent == 0) continue;
    if (tile.level == Level::instruction && extent == &Tile::n &&
        arithmetic_of(s) == Arithmetic::wgmma) {
      tile.*extent = std::min(tile.*extent, half);
    }
    if (half % (tile.*extent) != 0) return false;
  }
  block->*extent = half;
  return true;
}

// The smallest change, of those a person would try first, that makes it fit.
std::optional<std::string> nearest_that_fits(const Problem& p, const Schedule& s,
                                             const Limits& limits) {
  Schedule fewer = s;
  while (fewer.stages > 1) {
    --fewer.stages;
    if (launches(p, fewer, limits)) return std::to_string(fewer.stages) + " stages";
  }
  for (const auto& [name, extent] : {std::pair{"block.k", &Tile::k}, std::pair{"block.n", &Tile::n},
                                     std::pair{"block.m", &Tile::m}}) {
    Schedule smaller = s;
    while (halve(smaller, extent)) {
      if (launches(p, smaller, limits)) {
        return std::string(name) + " = " + std::to_string(block_of(smaller)->*extent);
      }
    }
  }
  Schedule smaller = s;  // both extents of the output
  while (halve(smaller, &Tile::n) && halve(smaller, &Tile::m)) {
    if (launches(p, smaller, limits)) {
      return "a block of " + std::to_string(block_of(smaller)->m) + " x " +
             std::to_string(block_of(smaller)->n);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_fits(const Problem& problem, const Schedule& schedule, const Machine& machine) {
  if (schedule.device != machine.device) {
    return bad_request("explain: " + named(schedule) + " is for a " +
                       std::string(to_string(schedule.device)) + ", and machine \"" + machine.name +
                       "\" is a " + std::string(to_string(machine.device)));
  }
  if (machine.device == Device::cpu) return {};
  const auto f = footprint(problem, schedule);
  if (!f) return std::unexpected(f.error());
  const std::string missing = missing_instruction(problem, schedule, compute_capability(machine));
  if (!missing.empty()) {
    return missing_capability("explain: " + named(schedule) + " uses " + missing + " (machine \"" +
                              machine.name + "\" is " + machine.architecture + ")");
  }
  if (const std::string wrong = wrong_instruction(problem, schedule); !wrong.empty()) {
    return bad_request("explain: " + wrong);
  }
  if (const std::string rows = unaligned_rows(problem, schedule); !rows.empty()) {
    return bad_request("explain: " + rows);
  }
  const auto exceeded = exceeded_limits(machine.limits, f->block);
  if (exceeded.empty()) return {};
  std::string message =
      "explain: " + named(schedule) + " does not fit machine \"" + machine.name + "\": ";
  for (std::size_t i = 0; i < exceeded.size(); ++i) {
    const ExceededLimit& e = exceeded[i];
    message += (i == 0 ? "" : ", ") + std::string("it needs ") + std::to_string(e.asked) + " " +
               (e.limit.starts_with("shared") ? "bytes of " : "") + e.limit + ", " +
               std::to_string(e.asked - e.allowed) + " over the limit of " +
               std::to_string(e.allowed);
  }
  const auto nearest = nearest_that_fits(problem, schedule, machine.limits);
  message += nearest ? "; the nearest that fits has " + *nearest
                     : "; no smaller number of stages or block of it fits";
  return bad_request(message);
}

}  // namespace tilewise
