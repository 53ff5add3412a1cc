// The schedule: how a product is tiled. One description that is counted, simulated, run and
// measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"
#include "tilewise/types.h"

namespace tilewise {

enum class Device : std::uint8_t { cpu, gpu };

// Levels from the outside in. On the GPU: cluster, block, warp, thread, instruction. On the CPU:
// the cache blocks nc, kc, mc and the register tile (mr x nr), in the order of the five loops.
enum class Level : std::uint8_t {
  cluster,
  block,
  warp,
  thread,
  instruction,
  nc,
  kc,
  mc,
  register_tile,
};

// One level of tiling. An extent of 0 means "not tiled at this level": the tile spans whatever the
// level outside spans (the whole dimension at the outermost level).
//
// repeat_m, repeat_n (innermost level only) split a tile of one thread into that many strided
// pieces: with T = ceil(W / m) threads along a parent tile of nominal width W and p = m / repeat_m,
// piece i of thread j holds [i*T*p + j*p, i*T*p + (j+1)*p). repeat_m must divide m.
struct Tile {
  Level level = Level::block;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t repeat_m = 1;
  std::int64_t repeat_n = 1;
  bool operator==(const Tile&) const = default;
};

enum class Copy : std::uint8_t { direct, cp_async, bulk };  // global -> shared
enum class Consumers : std::uint8_t { cooperative, ping_pong };

// Blocks by thread-block cluster.
struct Cluster {
  int m = 1;
  int n = 1;
  bool operator==(const Cluster&) const = default;
};

// Width of one access in bytes; 0: one element.
struct VectorBytes {
  int global = 0;
  int shared_a = 0;
  int shared_b = 0;
  bool operator==(const VectorBytes&) const = default;
};

// plain, pad (amount = elements added to each row), swizzle (amount = 32, 64 or 128 bytes).
struct SharedLayout {
  enum class Kind : std::uint8_t { plain, pad, swizzle };
  Kind kind = Kind::plain;
  int amount = 0;
  bool operator==(const SharedLayout&) const = default;
};

// The order in which output tiles are launched. grouped: super-rows of `group` tiles along `axis`.
struct Order {
  enum class Kind : std::uint8_t { row, column, grouped, hilbert, serpentine };
  enum class Axis : std::uint8_t { m, n };
  Kind kind = Kind::row;
  int group = 1;
  Axis axis = Axis::m;
  bool operator==(const Order&) const = default;
};

// K split over `ways` blocks. second_pass: partial sums in a workspace, then a reduction (same bits
// every time). atomic: float32 atomic adds (not reproducible).
struct SplitK {
  enum class Reduce : std::uint8_t { second_pass, atomic };
  int ways = 1;
  Reduce reduce = Reduce::second_pass;
  bool operator==(const SplitK&) const = default;
};

struct Schedule {
  static constexpr std::string_view kSchema = "tilewise.schedule/1";

  std::string name;    // e.g. "square_tile"
  std::string kernel;  // the file that runs it: kernels/*/NN_<kernel>.cuh, or "packed" on the CPU
  Device device = Device::gpu;
  std::vector<Tile> tiles;  // outermost first
  Cluster cluster;
  int stages = 1;
  Copy copy = Copy::direct;
  VectorBytes vector_bytes;
  SharedLayout shared_layout;
  Order order;
  SplitK split_k;
  bool stream_k = false;
  bool persistent = false;
  Consumers consumers = Consumers::cooperative;
  bool swap_ab = false;
  int promote_every = 0;  // "accumulate": 0 is "plain", N is "promoted:N" (elements of K)
  Compute compute = Compute::f32;
  std::string note;  // one sentence for people

  bool operator==(const Schedule&) const = default;
};

[[nodiscard]] std::string_view to_string(Device device);
[[nodiscard]] std::string_view to_string(
    Level level);  // "block", ..., "nc", "kc", "mc", "register"
[[nodiscard]] std::string_view to_string(Copy copy);
[[nodiscard]] std::string to_string(const SharedLayout& layout);  // "plain", "pad:4", "swizzle:128"
[[nodiscard]] std::string_view to_string(Order::Kind kind);
[[nodiscard]] Result<Level> parse_level(std::string_view name);

// The tile of a level, or null.
[[nodiscard]] const Tile* find_tile(const Schedule& schedule, Level level);

// Whether a block copies its tiles of A and B to shared memory. Those that mma.sync multiplies with
// copy "direct" go from global memory straight to registers (rung 11).
[[nodiscard]] bool stages_in_shared(const Schedule& schedule);

// The memory a level's reads come from: "global", "shared", "registers" on the GPU; "dram", "l3",
// "l2", "l1" on the CPU. The outermost level always reads global memory (dram).
[[nodiscard]] std::string_view reads_from(const Schedule& schedule, std::size_t level_index);

// Checks extents (0 or more, repeats divide them and stand on the innermost level), levels in order
// and at most once, ranges of the other fields. The message names the field and what is valid.
[[nodiscard]] Result<void> validate(const Schedule& schedule);

// "64" is a block of 64 x 64 x 64; "warp:64x32" a warp tile; "block:128x128x8" with a width along
// K; "thread:8x8" ...; the outermost of several bare numbers is the block, the next the thread.
// An extent of 0 leaves that dimension whole; a tile of zeros alone is an error.
[[nodiscard]] Result<Tile> parse_tile(std::string_view text);

// JSON of one schedule ("tilewise.schedule/1"). Unknown fields are errors, absent ones defaults.
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view json);
[[nodiscard]] std::string to_json(const Schedule& schedule);

// The named schedules (schedules/*.json, embedded), rungs 01 to 15 first, then the CPU's.
[[nodiscard]] std::span<const Schedule> named_schedules();
[[nodiscard]] Result<Schedule> find_schedule(std::string_view name);  // error: nearest match

}  // namespace tilewise
