// What the page asks about: a problem, a schedule and a machine, from the page's address.
#pragma once

#include <string>
#include <vector>

#include "tilewise/machine.h"
#include "tilewise/problem.h"
#include "tilewise/schedule.h"
#include "web/query.h"

namespace tilewise::web {

// The named schedules and machines that requests refer to. The module fills them from the page's
// data, tests from the library's.
struct Library {
  std::vector<Schedule> schedules;
  std::vector<Machine> machines;
};

struct Request {
  Query query;  // the whole of it: what an answer needs besides (a tile, a phase)
  Problem problem;
  std::string operands;  // "nt": B alone is transposed in memory
  Schedule schedule;
  const Machine* machine = nullptr;  // of the library
};

// m, n, k: 0 to 2^40; type (f32), batch is 1; schedule: a name, its fields changed by those of
// schedule_query.h; machine: a name. What is absent: 4096, square_tile or the library's first,
// h200 or the library's first. Errors name the argument, its value and the rule, the nearest name.
[[nodiscard]] Result<Request> parse_request(std::string_view text, const Library& library);

}  // namespace tilewise::web
