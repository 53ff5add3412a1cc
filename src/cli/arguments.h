// Arguments as text into values, with messages that name the argument, its value and the rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::cli {

// A whole number in decimal digits. name: "M", "--seed".
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view name, std::string_view text,
                                                 std::int64_t low, std::int64_t high);

// A decimal number such as 0.5.
[[nodiscard]] Result<double> parse_number(std::string_view name, std::string_view text, double low,
                                          double high);

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
};

// "M N K" as three arguments, each 0 or more.
[[nodiscard]] Result<Sizes> parse_sizes(const std::vector<std::string>& texts);

// The options that name a tiling: --tile (repeated), --register-tile, --schedule NAME or file.json.
struct TilingOptions {
  std::vector<std::string> tiles;
  std::optional<std::string> register_tile;
  std::optional<std::string> schedule;
};

// The schedule those options describe; `fallback` names the one for none. A bare number is the
// block tile, a second one the thread tile. The name is "" for a tiling that --tile describes.
// Errors: --schedule beside --tile, a third bare number, what parse_tile and validate refuse.
[[nodiscard]] Result<Schedule> schedule_of(const TilingOptions& options, std::string_view fallback);

// A named schedule, or one read from a file: a name that holds a slash or ends in .json.
[[nodiscard]] Result<Schedule> load_schedule(const std::string& name_or_path);

// --layout: "nn", "nt", "tn" or "tt", whether A and B of a dense problem are transposed in memory.
[[nodiscard]] Result<void> check_layout(std::string_view layout);
// "": nt for 8 bits, which tensor cores multiply along K alone, else nn.
[[nodiscard]] Result<void> set_layout(Problem& problem, std::string_view layout);
[[nodiscard]] std::string_view layout_of(const Problem& problem);

// "128x128x8"
[[nodiscard]] std::string extents(std::int64_t m, std::int64_t n, std::int64_t k);
// "block 128x128x8, thread 8x8 in 2x2 pieces"
[[nodiscard]] std::string describe_tiles(const Schedule& schedule);

}  // namespace tilewise::cli
