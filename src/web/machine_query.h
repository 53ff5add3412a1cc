// A machine as a query, for the page: "name=h200&units=132&memory=l2|62914560|...&limit=...".
//
//   name title architecture device   texts
//   units=N
//   boost, sustained=VALUE|SOURCE
//   memory=NAME|CAPACITY|SOURCE|BANDWIDTH|SOURCE|MEASURED|SOURCE|UNIT
//   peak=NAME|TFLOPS|SOURCE|MEASURED|SOURCE
//   limit=NAME|VALUE
#pragma once

#include "tilewise/machine.h"
#include "web/query.h"

namespace tilewise::web {

// parse_machine_query(machine_query(m)) is m, but for its notes and any "|" in a source.
[[nodiscard]] Query machine_query(const Machine& machine);

// Errors: a name that is not one of the above, a figure that is no number.
[[nodiscard]] Result<Machine> parse_machine_query(const Query& query);

}  // namespace tilewise::web
