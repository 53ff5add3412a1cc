// What one block of a GPU schedule asks for.
#include <algorithm>

#include "parts/fragment.cuh"
#include "tilewise/estimate.h"

namespace tilewise {
namespace {

constexpr std::int64_t kRegisterBytes = 4;
// Registers for addresses, counters and predicates that no formula gives: typical of compiled
// kernels.
constexpr std::int64_t kLaneOther = 24;
constexpr std::int64_t kMmaOther = 60;
constexpr std::int64_t kWgmmaOther = 40;
// A kernel without a block level: rung 02 launches 4 x 128 outputs, 01 and the rest 32 x 32.
constexpr std::int64_t kDirectEdge = 32;
constexpr std::int64_t kNaiveRows = 4, kNaiveColumns = 128;
// What the kernels' maps of shared memory hold beside the stages (kernels/ladder). wgmma kernels
// store D through panels of 64 rows of 128 bytes, two a warpgroup, and have two barriers a stage; a
// warp of rung 11 has a 16 x 16 tile of A, B and D.
constexpr std::int64_t kPanelBytes = 2 * 64 * 128;
constexpr std::int64_t kBarrierBytes = 8;
constexpr std::int64_t kFlagBytes = 4;
constexpr std::int64_t kMmaMapBytes = 1024;
constexpr std::int64_t kTunedMapBytes = 64;
constexpr std::int64_t kConflictFreeAlignment = 1024;
constexpr std::int64_t kWmmaWarpBytes = 2048;
// A persistent wgmma kernel has one warpgroup to copy and two to multiply. All start with the same
// registers, then the first gives most of its own to the others (kernels/ladder/14).
constexpr std::int64_t kConsumers = 2;
constexpr std::int64_t kPipelineRegisters = 168;
constexpr std::int64_t kConsumerRegisters = 232;

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

Tile tile_or_empty(const Schedule& s, Level level) {
  const Tile* tile = find_tile(s, level);
  return tile != nullptr ? *tile : Tile{};
}

std::string number(std::int64_t x) { return std::to_string(x); }

std::int64_t padding(const Schedule& s) {
  return s.shared_layout.kind == SharedLayout::Kind::pad ? s.shared_layout.amount : 0;
}

// Shared memory of the stages of A and B.
std::int64_t stage_bytes(const Problem& p, const Schedule& s, const Footprint& f) {
  const std::int64_t pad = padding(s);
  const std::int64_t a = f.block_k * (f.block_m + pad) * size_bytes(p.type_a);
  const std::int64_t b = f.block_k * (f.block_n + pad) * size_bytes(p.type_b);
  if (s.kernel == "conflict_free") {
    return (divide_up(a, kConflictFreeAlignment) + divide_up(b, kConflictFreeAlignment)) *
           kConflictFreeAlignment;
  }
  return s.stages * (a + b) + (s.kernel == "tuned_f32" ? kTunedMapBytes : 0);
}

// The same for mma.sync: an operand's lines of the pitch of its contiguous dimension, each padded;
// those along m or n are 128 bytes.
std::int64_t mma_stage_bytes(const Problem& p, const Schedule& s, const Footprint& f) {
  constexpr std::int64_t kLineBytes = 128;
  auto bytes = [&](bool k_major, std::int64_t extent, int size) {
    const std::int64_t line = k_major ? f.block_k : kLineBytes / size;
    return s.stages * f.block_k * size * (extent * (line + padding(s)) / line);
  };
  return bytes(p.a.column == 1, f.block_m, size_bytes(p.type_a)) +
         bytes(p.b.row == 1, f.block_n, size_bytes(p.type_b)) + kMmaMapBytes;
}

void lanes(const Problem& p, const Schedule& s, Footprint& f) {
  Tile thread = tile_or_empty(s, Level::thread);
  thread.m = std::max<std::int64_t>(thread.m, 1);
  thread.n = std::max<std::int64_t>(thread.n, 1);
  const bool staged = find_tile(s, Level::block) != nullptr;
  f.block.threads = divide_up(f.block_m, thread.m) * divide_up(f.block_n, thread.n);
  const std::int64_t words = size_bytes(p.type_a) == 8 ? 2 : 1;
  f.accumulators = thread.m * thread.n * words;
  f.operands = (thread.m + thread.n) * words;
  if (staged && s.copy == Copy::direct && s.vector_bytes.global > kRegisterBytes) {
    // The next tile passes through registers on its way to shared memory.
    f.operands += divide_up(f.block_k * (f.block_m + f.block_n) * words, f.block.threads);
  }
  f.other_registers = kLaneOther;
  if (staged) f.block.shared_bytes = stage_bytes(p, s, f);
  f.formula = "registers " + number(thread.m) + " x " + number(thread.n) + " accumulators + " +
              number(f.operands) + " operands + " + number(kLaneOther) + " for addresses";
}

void mma(const Problem& p, const Schedule& s, Footprint& f) {
  Tile warp = tile_or_empty(s, Level::warp), instruction = tile_or_empty(s, Level::instruction);
  if (warp.m == 0) warp.m = instruction.m;
  if (warp.n == 0) warp.n = instruction.n;
  const bool staged = s.copy != Copy::direct;
  f.block.threads = divide_up(f.block_m, warp.m) * divide_up(f.block_n, warp.n) * kWarpLanes;
  f.accumulators = divide_up(warp.m * warp.n, kWarpLanes);
  // Staged kernels load the fragments of the next step of k while they multiply this one's.
  f.operands =
      divide_up((warp.m * size_bytes(p.type_a) + warp.n * size_bytes(p.type_b)) * instruction.k,
                kWarpLanes * kRegisterBytes) *
      (staged ? 2 : 1);
  f.other_registers = kMmaOther;
  f.block.shared_bytes =
      staged ? mma_stage_bytes(p, s, f) : f.block.threads / kWarpLanes * kWmmaWarpBytes;
  f.formula = "registers " + number(warp.m) + " x " + number(warp.n) + " / 32 accumulators + " +
              number(f.operands) + " operands + " + number(kMmaOther) + " for addresses";
}

void wgmma(const Problem& p, const Schedule& s, Footprint& f) {
  const std::int64_t consumers = s.persistent ? kConsumers : 1;
  const bool shared_tile = s.consumers == Consumers::cooperative;
  const std::int64_t rows = shared_tile ? divide_up(f.block_m, consumers) : f.block_m;
  f.block.threads = kWarpgroupThreads * (s.persistent ? 1 + consumers : 1);
  f.accumulators = divide_up(rows * f.block_n, kWarpgroupThreads);
  if (s.promote_every > 0) f.accumulators *= 2;
  f.other_registers = kWgmmaOther;
  f.block.shared_bytes = stage_bytes(p, s, f) + consumers * kPanelBytes +
                         2 * s.stages * kBarrierBytes + (s.persistent ? consumers * kFlagBytes : 0);
  f.formula = "registers " + number(rows) + " x " + number(f.block_n) + " / 128 accumulators" +
              (s.promote_every > 0 ? " twice" : "") + " + " + number(kWgmmaOther) +
              " for addresses";
}

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::lanes:
      return "lanes";
    case Arithmetic::mma:
      return "mma.sync";
    case Arithmetic::wgmma:
      return "wgmma";
    case Arithmetic::cpu:
      return "cpu";
  }
  return "";
}

Arithmetic arithmetic_of(const Schedule& schedule) {
  if (schedule.device == Device::cpu) return Arithmetic::cpu;
  const Tile* instruction = find_tile(schedule, Level::instruction);
  if (instruction == nullptr) return Arithmetic::lanes;
  return instruction->m == 64 ? Arithmetic::wgmma : Arithmetic::mma;
}

Result<Footprint> footprint(const Problem& problem, const Schedule& schedule) {
  if (auto ok = validate(schedule); !ok) return std::unexpected(ok.error());
  if (auto use = peak_use(problem, schedule); !use) return std::unexpected(use.error());
  const Arithmetic arithmetic = arithmetic_of(schedule);
  if (arithmetic == Arithmetic::cpu) {
    return bad_request("explain: schedule \"" + schedule.name +
                       "\" runs on the CPU, which has no thread blocks");
  }
  Footprint f;
  const Tile block = tile_or_empty(schedule, Level::block);
  const Tile inner = tile_or_empty(schedule, Level::instruction);
  const bool naive = schedule.kernel == "naive";
  f.block_m = block.m > 0 ? block.m : naive ? kNaiveRows : kDirectEdge;
  f.block_n = block.n > 0 ? block.n : naive ? kNaiveColumns : kDirectEdge;
  f.block_k = block.k > 0 ? block.k : std::max<std::int64_t>(inner.k, 1);
  if (arithmetic == Arithmetic::lanes) lanes(problem, schedule, f);
  if (arithmetic == Arithmetic::mma) mma(problem, schedule, f);
  if (arithmetic == Arithmetic::wgmma) wgmma(problem, schedule, f);
  f.block.registers_per_thread = f.accumulators + f.operands + f.other_registers;
  if (arithmetic == Arithmetic::wgmma && schedule.persistent &&
      f.block.registers_per_thread <= kConsumerRegisters) {
    f.formula += ", of the " + number(kConsumerRegisters) + " that a warpgroup has to multiply (" +
                 number(kPipelineRegisters) + " at launch)";
    f.block.registers_per_thread = kPipelineRegisters;
  }
  f.formula += "; shared memory " + number(f.block.shared_bytes) + " bytes";
  return f;
}

}  // namespace tilewise
