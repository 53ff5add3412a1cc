// What the page asks about: a problem, a schedule and a machine, from the page's address.
#pragma once

#include <string>
#include <vector>

#include "schedule/kernel_header.h"
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
  KernelFiles kernels;  // as far as their header comments
};

// The name of a schedule that starts from no named one.
inline constexpr std::string_view kCustomSchedule = "custom";

struct Request {
  Query query;  // the whole of it: what an answer needs besides (a tile, a phase)
  Problem problem;
  std::string operands;  // "nt": B alone is transposed in memory
  Schedule schedule;
  const Machine* machine = nullptr;  // of the library
  const Library* library = nullptr;
};

// m, n, k: 0 to 2^40; type (f32), batch is 1; schedule: a name, its fields changed by those of
// schedule_query.h, or "custom", which is made of these alone; machine: a name. What is absent:
// 4096, square_tile or the library's first, h200 or the library's first. Errors name the argument,
// its value and the rule, the nearest name.
[[nodiscard]] Result<Request> parse_request(std::string_view text, const Library& library);

// A, B and D each of at most 2^63 - 1 bytes, which an estimate takes and a count does not ask for.
// Error: the sizes, and that counts hold all the same.
[[nodiscard]] Result<void> check_matrix_bytes(const Problem& problem);

}  // namespace tilewise::web
