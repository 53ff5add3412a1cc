// Whether a schedule can be launched on a machine; if not, the nearest that can.
#include <algorithm>
#include <optional>

#include "schedule/bulk_copy.h"
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
    return std::string("wgmma, which sm_90 alone has; take ") +
           (size_bytes(p.type_a) == 1   ? "bf16 and schedule \"mma\""
            : p.compute == Compute::f32 ? "schedule \"mma\""
                                        : "schedule \"mma_tf32\"");
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

// Bytes of an element as the tensor core takes it: those of its peak.
int multiplied_bytes(const PeakUse& use) {
  return use.peak == "f8" ? 1 : use.peak == "tf32" ? 4 : use.peak == "f64" ? 8 : 2;
}

// Extents of the tensor instruction that no instruction of the type has; empty: one has them. wgmma
// and mma.sync take 32 bytes of k (mma.sync also 16), wmma 16 elements (8 of tf32).
std::string wrong_instruction(const Problem& p, const Schedule& s) {
  const Arithmetic arithmetic = arithmetic_of(s);
  if (arithmetic != Arithmetic::wgmma && arithmetic != Arithmetic::mma) return {};
  const PeakUse use = *peak_use(p, s);
  const Tile& i = *find_tile(s, Level::instruction);
  const std::int64_t k = 32 / multiplied_bytes(use);
  std::string valid;
  if (arithmetic == Arithmetic::wgmma) {
    if (i.k == k && i.n % 8 == 0 && i.n >= 8 && i.n <= 256) return {};
    valid = "wgmma of " + use.peak + " is m64nNk" + std::to_string(k) +
            " with N a multiple of 8 up to 256";
  } else {
    const std::int64_t wmma_k = use.peak == "tf32" ? 8 : 16;
    const bool mma = i.m == 16 && i.n == 8 && (i.k == k || i.k == k / 2);
    const bool wmma = use.peak != "f8" && i.m == 16 && i.n == 16 && i.k == wmma_k;
    if (mma || wmma) return {};
    valid = "mma.sync of " + use.peak + " is m16n8k" + std::to_string(k) + " or m16n8k" +
            std::to_string(k / 2);
    if (use.peak != "f8") valid += ", wmma m16n16k" + std::to_string(wmma_k);
  }
  return "the instruction of " + named(s) + " is m" + std::to_string(i.m) + "n" +
         std::to_string(i.n) + "k" + std::to_string(i.k) + ", and " + valid +
         "; take a schedule with one of those";
}

// wmma loads fragments straight from memory, along rows on multiples of 8 elements; empty: they
// are.
std::string wrong_pitch(const Problem& p, const Schedule& s) {
  constexpr std::int64_t kElements = 8;
  if (s.kernel != "wmma") return {};
  for (const auto& [name, strides] : {std::pair{"A", &p.a}, std::pair{"B", &p.b}}) {
    const std::int64_t pitch = strides->column == 1 ? strides->row : strides->column;
    if ((strides->column == 1 || strides->row == 1) && pitch % kElements == 0) continue;
    return std::string("the pitch of ") + name + " is " + std::to_string(pitch) + " " +
           std::string(to_string(p.type_a)) + " elements, not a multiple of 8, which " + named(s) +
           " needs; pad to " + std::to_string((pitch / kElements + 1) * kElements) +
           ", or take schedule \"mma\"";
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
std::optional<NearestFit> smallest_change(const Problem& p, const Schedule& s,
                                          const Limits& limits) {
  Schedule fewer = s;
  while (fewer.stages > 1) {
    --fewer.stages;
    if (launches(p, fewer, limits))
      return NearestFit{fewer, std::to_string(fewer.stages) + " stages"};
  }
  for (const auto& [name, extent] : {std::pair{"block.k", &Tile::k}, std::pair{"block.n", &Tile::n},
                                     std::pair{"block.m", &Tile::m}}) {
    Schedule smaller = s;
    while (halve(smaller, extent)) {
      if (!launches(p, smaller, limits)) continue;
      return NearestFit{smaller,
                        std::string(name) + " = " + std::to_string(block_of(smaller)->*extent)};
    }
  }
  Schedule smaller = s;  // both extents of the output
  while (halve(smaller, &Tile::n) && halve(smaller, &Tile::m)) {
    if (!launches(p, smaller, limits)) continue;
    return NearestFit{smaller, "a block of " + std::to_string(block_of(smaller)->m) + " x " +
                                   std::to_string(block_of(smaller)->n)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<NearestFit> nearest_fit(const Problem& problem, const Schedule& schedule,
                                      const Machine& machine) {
  const auto f = footprint(problem, schedule);
  if (!f || exceeded_limits(machine.limits, f->block).empty()) return std::nullopt;
  auto nearest = smallest_change(problem, schedule, machine.limits);
  if (nearest) nearest->schedule.name += " with " + nearest->change;
  return nearest;
}

Result<void> check_fits(const Problem& problem, const Schedule& schedule, const Machine& machine) {
  if (schedule.device != machine.device) {
    return bad_request("explain: " + named(schedule) + " is for a " +
                       std::string(to_string(schedule.device)) + ", and machine \"" + machine.name +
                       "\" is a " + std::string(to_string(machine.device)));
  }
  if (schedule.swap_ab) {
    return bad_request(
        "explain: swap_ab is true, and no kernel swaps the operands, so that an " +
        std::string("estimate would describe none; exchange m and n of the tiles of ") +
        named(schedule) + " instead");
  }
  if (auto use = peak_use(problem, schedule); !use) return std::unexpected(use.error());
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
  if (schedule.copy == Copy::bulk) {
    if (auto ok = check_bulk_copy(problem, "explain"); !ok) return ok;
  }
  if (const std::string pitch = wrong_pitch(problem, schedule); !pitch.empty()) {
    return bad_request("explain: " + pitch);
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
  const auto nearest = smallest_change(problem, schedule, machine.limits);
  message += nearest ? "; the nearest that fits has " + nearest->change
                     : "; no smaller number of stages or block of it fits";
  return bad_request(message);
}

}  // namespace tilewise
