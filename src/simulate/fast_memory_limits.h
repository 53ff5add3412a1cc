// What both fast-memory simulators check first.
#pragma once

#include <cstdint>

#include "tilewise/bounds.h"
#include "tilewise/result.h"

namespace tilewise {

// Sizes, S, the tile, and at most 2^32 products over at most 2^28 elements (it would not end, or
// fit).
[[nodiscard]] Result<void> check_fast_memory_run(const char* who, const BoundQuestion& question,
                                                 std::int64_t rows, std::int64_t columns);

}  // namespace tilewise
