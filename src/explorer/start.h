// Where the explorer starts: what a caller asks for, as the state in the page's address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::explorer {

struct Start {
  std::optional<std::array<std::int64_t, 3>> sizes;  // m, n, k; 4096 each
  Schedule schedule;
  std::string dtype = "f32";
  std::string machine = "h200";
};

// Checked by the reader that the page itself uses. Errors: its sentences; a schedule that has the
// name of another one.
[[nodiscard]] Result<std::string> start_state(const Start& start);

}  // namespace tilewise::explorer
