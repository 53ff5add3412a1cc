// What an epilogue adds to the product's traffic, beside what the same expression would move as
// passes of its own (docs/epilogue.md, "Cost").
#pragma once

#include <string>

#include "epilogue/cost.h"
#include "io/json_writer.h"
#include "tilewise/problem.h"

namespace tilewise {

[[nodiscard]] EpilogueCost epilogue_cost_of(const Problem& problem);

// One line for people, with its line break; "" without an epilogue.
[[nodiscard]] std::string epilogue_cost_text(const Problem& problem);

// The member "epilogue_cost": fused_bytes, passes, unfused_bytes and saved_bytes; null without an
// epilogue.
void write_epilogue_cost(JsonWriter& writer, const Problem& problem);

}  // namespace tilewise
