#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "io/file_bytes.h"
#include "io/wording.h"
#include "schedule/bulk_copy.h"

namespace tilewise::cli {
namespace {

constexpr std::size_t kScheduleFileBytes = 1 << 20;

bool is_bare(std::string_view tile) { return tile.find(':') == std::string_view::npos; }

Result<Tile> parse_tile_option(std::string_view name, std::string_view text, int num_bare_before) {
  Result<Tile> tile = parse_tile(text);
  if (!tile) return bad_request(fmt::format("{}: {}", name, tile.error().message));
  if (!is_bare(text)) return tile;
  if (num_bare_before > 1) {
    return bad_request(
        fmt::format("{} {} is a third tile without a level; write level:{} with one of cluster, "
                    "block, warp, thread and instruction",
                    name, in_quotes(text), text.substr(0, 32)));
  }
  if (num_bare_before == 1) {
    tile->level = Level::thread;
    const bool one_number = text.find('x') == std::string_view::npos;
    if (one_number) tile->k = 0;  // a thread walks along the whole width of its block
  }
  return tile;
}

Result<std::vector<Tile>> parse_tiles(const TilingOptions& options) {
  std::vector<Tile> tiles;
  int num_bare = 0;
  for (const std::string& text : options.tiles) {
    const Result<Tile> tile = parse_tile_option("--tile", text, num_bare);
    if (!tile) return std::unexpected(tile.error());
    num_bare += is_bare(text) ? 1 : 0;
    tiles.push_back(*tile);
  }
  if (options.register_tile) {
    const Result<Tile> tile = parse_tile_option("--register-tile", *options.register_tile, 1);
    if (!tile) return std::unexpected(tile.error());
    tiles.push_back(*tile);
  }
  std::sort(tiles.begin(), tiles.end(),
            [](const Tile& x, const Tile& y) { return x.level < y.level; });
  return tiles;
}

Result<Schedule> schedule_of_tiles(const TilingOptions& options) {
  if (options.tiles.empty()) {
    return bad_request("--register-tile needs --tile, the block tile that holds it");
  }
  Result<std::vector<Tile>> tiles = parse_tiles(options);
  if (!tiles) return std::unexpected(tiles.error());
  Schedule schedule;
  schedule.tiles = std::move(*tiles);
  if (schedule.tiles.front().level >= Level::nc) schedule.device = Device::cpu;
  if (const Result<void> valid = validate(schedule); !valid) {
    return bad_request(fmt::format("--tile: {}", valid.error().message));
  }
  return schedule;
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view name, std::string_view text, std::int64_t low,
                                   std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= low && value <= high) return value;
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const std::string range = high == kLargest ? fmt::format("of {} or more, below 2^63", low)
                                             : fmt::format("from {} to {}", low, high);
  return bad_request(
      fmt::format("{} is {}; it must be a whole number {}", name, in_quotes(text), range));
}

Result<double> parse_number(std::string_view name, std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= low && value <= high) return value;
  return bad_request(
      fmt::format("{} is {}; it must be a number from {} to {}", name, in_quotes(text), low, high));
}

Result<Sizes> parse_sizes(const std::vector<std::string>& texts) {
  if (texts.size() != 3) {
    return bad_request(fmt::format("{} of the three sizes M N K {} given: C[M,N] = A[M,K] B[K,N]",
                                   texts.size(), texts.size() == 1 ? "is" : "are"));
  }
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  Sizes sizes;
  const std::pair<std::string_view, std::int64_t*> targets[] = {
      {"M", &sizes.m}, {"N", &sizes.n}, {"K", &sizes.k}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [name, target] = targets[i];
    const Result<std::int64_t> size = parse_integer(name, texts[i], 0, kLargest);
    if (!size) return std::unexpected(size.error());
    *target = *size;
  }
  return sizes;
}

Result<Schedule> load_schedule(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  if (!is_path) {
    Result<Schedule> schedule = find_schedule(name_or_path);
    if (!schedule) return bad_request(fmt::format("--schedule: {}", schedule.error().message));
    return schedule;
  }
  const Result<std::string> text = read_text_file(name_or_path, kScheduleFileBytes);
  if (!text) return bad_request(fmt::format("--schedule: {}", text.error().message));
  Result<Schedule> schedule = parse_schedule(*text);
  if (!schedule) {
    return bad_request(
        fmt::format("--schedule {}: {}", in_quotes(name_or_path), schedule.error().message));
  }
  return schedule;
}

Result<Schedule> schedule_of(const TilingOptions& options, std::string_view fallback) {
  const bool any_tile = !options.tiles.empty() || options.register_tile;
  if (options.schedule) {
    if (any_tile)
      return bad_request("--schedule and --tile exclude each other: both name a tiling");
    return load_schedule(*options.schedule);
  }
  return any_tile ? schedule_of_tiles(options) : find_schedule(fallback);
}

Result<void> check_layout(std::string_view layout) {
  if (is_operand_layout(layout)) return {};
  return bad_request(fmt::format("--layout is {}; valid are nn, nt, tn and tt", in_quotes(layout)));
}

Result<void> set_layout(Problem& p, std::string_view layout) {
  if (layout.empty()) layout = size_bytes(p.type_a) == 1 ? "nt" : "nn";
  if (auto ok = check_layout(layout); !ok) return ok;
  set_operand_layout(p, layout);
  return {};
}

std::string_view layout_of(const Problem& p) {
  const bool ta = p.a.column != 1, tb = p.b.column != 1;
  return ta ? (tb ? "tt" : "tn") : (tb ? "nt" : "nn");
}

std::string extents(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto extent = [](std::int64_t x) { return x == 0 ? std::string("*") : fmt::to_string(x); };
  const std::string plane = fmt::format("{}x{}", extent(m), extent(n));
  return k == 0 ? plane : fmt::format("{}x{}", plane, k);
}

std::string describe_tiles(const Schedule& schedule) {
  std::string text;
  for (const Tile& tile : schedule.tiles) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", to_string(tile.level), extents(tile.m, tile.n, tile.k));
    if (tile.repeat_m > 1 || tile.repeat_n > 1) {
      text += fmt::format(" in {}x{} pieces", tile.repeat_m, tile.repeat_n);
    }
  }
  return text;
}

}  // namespace tilewise::cli
