#include "tilewise/schedule.h"

#include <charconv>
#include <string>

#include "schedule/names.h"

namespace tilewise {
namespace {

constexpr NameTable<Device> kDevices[] = {{Device::cpu, "cpu"}, {Device::gpu, "gpu"}};
constexpr NameTable<Level> kLevels[] = {
    {Level::cluster, "cluster"},
    {Level::block, "block"},
    {Level::warp, "warp"},
    {Level::thread, "thread"},
    {Level::instruction, "instruction"},
    {Level::nc, "nc"},
    {Level::kc, "kc"},
    {Level::mc, "mc"},
    {Level::register_tile, "register"},
};
constexpr NameTable<Copy> kCopies[] = {
    {Copy::direct, "direct"}, {Copy::cp_async, "cp_async"}, {Copy::bulk, "bulk"}};
constexpr NameTable<Order::Kind> kOrders[] = {
    {Order::Kind::row, "row"},
    {Order::Kind::column, "column"},
    {Order::Kind::grouped, "grouped"},
    {Order::Kind::hilbert, "hilbert"},
    {Order::Kind::serpentine, "serpentine"},
};

constexpr std::int64_t kWgmmaRows = 64;  // the instruction of four warps reads shared memory

bool is_cpu_level(Level level) { return level >= Level::nc; }

std::string field(const Schedule& s, std::string_view name) {
  return "schedule" + (s.name.empty() ? std::string() : " \"" + s.name + "\"") + ": " +
         std::string(name);
}

Result<void> validate_tile(const Schedule& s, std::size_t i) {
  const Tile& t = s.tiles[i];
  const std::string where = field(s, "tile \"" + std::string(to_string(t.level)) + "\" ");
  if (t.m < 0 || t.n < 0 || t.k < 0) {
    return bad_request(where + "has a negative extent; 0 means not tiled");
  }
  if (t.repeat_m < 1 || t.repeat_n < 1) {
    return bad_request(where + "has a repeat below 1; 1 means one piece");
  }
  const bool repeats = t.repeat_m > 1 || t.repeat_n > 1;
  if (repeats && i + 1 != s.tiles.size()) {
    return bad_request(where +
                       "has repeats but is not the innermost level; only that may be split");
  }
  if (repeats && (t.m == 0 || t.n == 0 || t.m % t.repeat_m != 0 || t.n % t.repeat_n != 0)) {
    return bad_request(where + "is " + std::to_string(t.m) + " x " + std::to_string(t.n) +
                       " with repeats " + std::to_string(t.repeat_m) + " x " +
                       std::to_string(t.repeat_n) + "; repeats must divide the extents");
  }
  if (is_cpu_level(t.level) != (s.device == Device::cpu)) {
    return bad_request(
        where + "does not exist on device \"" + std::string(to_string(s.device)) + "\"; " +
        (s.device == Device::cpu ? "valid: nc, kc, mc, register"
                                 : "valid: cluster, block, warp, thread, instruction"));
  }
  if (i > 0 && t.level <= s.tiles[i - 1].level) {
    return bad_request(
        where + "stands inside \"" + std::string(to_string(s.tiles[i - 1].level)) +
        "\"; levels go from the outside in, each at most once: cluster, block, warp, "
        "thread, instruction, or nc, kc, mc, register");
  }
  return {};
}

Result<void> check_range(const Schedule& s, std::string_view name, std::int64_t value,
                         std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return bad_request(field(s, name) + " is " + std::to_string(value) +
                     "; valid: " + std::to_string(low) + " to " + std::to_string(high));
}

Result<void> check_vector(const Schedule& s, std::string_view name, int bytes) {
  for (const int valid : {0, 1, 2, 4, 8, 16}) {
    if (bytes == valid) return {};
  }
  return bad_request(field(s, name) + " is " + std::to_string(bytes) +
                     "; valid: 1, 2, 4, 8 or 16 bytes, 0 for one element");
}

Result<void> validate_layout(const Schedule& s) {
  const auto& layout = s.shared_layout;
  switch (layout.kind) {
    case SharedLayout::Kind::plain:
      return check_range(s, "shared_layout amount", layout.amount, 0, 0);
    case SharedLayout::Kind::pad:
      return check_range(s, "shared_layout pad", layout.amount, 1, 64);
    case SharedLayout::Kind::swizzle:
      if (layout.amount == 32 || layout.amount == 64 || layout.amount == 128) return {};
      return bad_request(field(s, "shared_layout") +
                         " is swizzle:" + std::to_string(layout.amount) +
                         "; valid: swizzle:32, swizzle:64, swizzle:128");
  }
  return {};
}

// The digits of one extent; at most 18 of them, so that no product of two can wrap unnoticed.
Result<std::int64_t> parse_extent(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0 || text.empty()) {
    return bad_request("tile \"" + std::string(whole.substr(0, 64)) + "\": \"" +
                       std::string(text.substr(0, 32)) +
                       "\" is not an extent; write 64, warp:64x32 or block:128x128x8");
  }
  return value;
}

}  // namespace

std::string_view to_string(Device device) { return name_of(kDevices, device); }
std::string_view to_string(Level level) { return name_of(kLevels, level); }
std::string_view to_string(Copy copy) { return name_of(kCopies, copy); }
std::string_view to_string(Order::Kind kind) { return name_of(kOrders, kind); }
Result<Level> parse_level(std::string_view name) { return value_of(kLevels, "level", name); }

std::string to_string(const SharedLayout& layout) {
  switch (layout.kind) {
    case SharedLayout::Kind::plain:
      return "plain";
    case SharedLayout::Kind::pad:
      return "pad:" + std::to_string(layout.amount);
    case SharedLayout::Kind::swizzle:
      return "swizzle:" + std::to_string(layout.amount);
  }
  return "?";
}

const Tile* find_tile(const Schedule& schedule, Level level) {
  for (const Tile& tile : schedule.tiles) {
    if (tile.level == level) return &tile;
  }
  return nullptr;
}

bool stages_in_shared(const Schedule& schedule) {
  if (find_tile(schedule, Level::block) == nullptr) return false;
  const Tile* instruction = find_tile(schedule, Level::instruction);
  const bool fragments = instruction != nullptr && instruction->m != kWgmmaRows;
  return !fragments || schedule.copy != Copy::direct;
}

std::string_view reads_from(const Schedule& schedule, std::size_t level_index) {
  const Tile& tile = schedule.tiles[level_index];
  switch (tile.level) {
    case Level::nc:
    case Level::kc:
      return "dram";
    case Level::mc:
      return level_index == 0 ? "dram" : "l3";
    case Level::register_tile:
      return level_index == 0 ? "dram" : "l2";
    case Level::cluster:
    case Level::block:
      return "global";
    case Level::warp:
    case Level::thread:
      return level_index == 0 || !stages_in_shared(schedule) ? "global" : "shared";
    case Level::instruction: {
      if (level_index == 0) return "global";
      return tile.m == kWgmmaRows ? "shared" : "registers";
    }
  }
  return "?";
}

Result<void> validate(const Schedule& s) {
  constexpr int kMaxCluster = 16, kMaxStages = 64, kMaxSplit = 65535, kMaxGroup = 1 << 20;
  for (std::size_t i = 0; i < s.tiles.size(); ++i) {
    if (auto ok = validate_tile(s, i); !ok) return ok;
  }
  if (auto ok = check_range(s, "cluster m", s.cluster.m, 1, kMaxCluster); !ok) return ok;
  if (auto ok = check_range(s, "cluster n", s.cluster.n, 1, kMaxCluster); !ok) return ok;
  if (auto ok = check_range(s, "stages", s.stages, 1, kMaxStages); !ok) return ok;
  if (auto ok = check_vector(s, "vector_bytes global", s.vector_bytes.global); !ok) return ok;
  if (auto ok = check_vector(s, "vector_bytes shared_a", s.vector_bytes.shared_a); !ok) return ok;
  if (auto ok = check_vector(s, "vector_bytes shared_b", s.vector_bytes.shared_b); !ok) return ok;
  if (auto ok = validate_layout(s); !ok) return ok;
  if (auto ok = check_range(s, "order group", s.order.group, 1, kMaxGroup); !ok) return ok;
  if (auto ok = check_range(s, "split_k ways", s.split_k.ways, 1, kMaxSplit); !ok) return ok;
  return check_range(s, "accumulate promoted", s.promote_every, 0, 1 << 20);
}

Result<Tile> parse_tile(std::string_view text) {
  Tile tile;
  std::string_view rest = text;
  const auto colon = rest.find(':');
  if (colon != std::string_view::npos) {
    const auto level = parse_level(rest.substr(0, colon));
    if (!level) return std::unexpected(level.error());
    tile.level = *level;
    rest.remove_prefix(colon + 1);
  }
  std::int64_t extents[3] = {0, 0, 0};
  int num_extents = 0;
  while (true) {
    const auto x = rest.find('x');
    const auto extent = parse_extent(rest.substr(0, x), text);
    if (!extent) return std::unexpected(extent.error());
    if (num_extents == 3) {
      return bad_request("tile \"" + std::string(text.substr(0, 64)) +
                         "\" has more than three extents; write level:MxN or level:MxNxK");
    }
    extents[num_extents++] = *extent;
    if (x == std::string_view::npos) break;
    rest.remove_prefix(x + 1);
  }
  tile.m = extents[0];
  tile.n = num_extents == 1 ? extents[0] : extents[1];
  tile.k = num_extents == 1 ? extents[0] : extents[2];
  if (tile.m == 0 && tile.n == 0 && tile.k == 0) {
    return bad_request(
        "tile \"" + std::string(text.substr(0, 64)) +
        "\" tiles no dimension; an extent is 1 or more, or 0 beside another to leave "
        "that dimension whole, as in 0x64");
  }
  return tile;
}

}  // namespace tilewise
