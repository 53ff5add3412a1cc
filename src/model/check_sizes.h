// The check that every question about a product starts with.
#pragma once

#include <cstdint>
#include <string>

#include "tilewise/result.h"

namespace tilewise {

[[nodiscard]] inline Result<void> check_sizes(const char* who, std::int64_t m, std::int64_t n,
                                              std::int64_t k) {
  const std::int64_t sizes[] = {m, n, k};
  for (int i = 0; i < 3; ++i) {
    if (sizes[i] < 0) {
      return bad_request(std::string(who) + ": " + "mnk"[i] + " is " + std::to_string(sizes[i]) +
                         "; sizes are 0 or more");
    }
  }
  return {};
}

}  // namespace tilewise
