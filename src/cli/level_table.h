// The counts of each level, as verbs show them.
#pragma once

#include <string>

#include "io/json_writer.h"
#include "tilewise/traffic.h"

namespace tilewise::cli {

// The member "levels": one object a level.
void write_levels(JsonWriter& writer, const CountReport& report);

// A table: level, tile, the memory it reads from, reads of A and B, reuse, FLOP a byte.
[[nodiscard]] std::string level_table(const Schedule& schedule, const CountReport& report);

}  // namespace tilewise::cli
