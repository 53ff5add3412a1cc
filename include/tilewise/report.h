// explain: a problem, a schedule and a machine, and everything that follows: traffic in four
// quantities by level beside the bound, what a block needs, waves, a time with its terms, what
// limits it, and what would change that. Nothing is run.
#pragma once

#include <string>
#include <vector>

#include "tilewise/estimate.h"
#include "tilewise/machine.h"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise {

// Another named schedule, or one change of this one, with its estimate.
struct Alternative {
  std::string what;  // a schedule's name, or "a block of 128 x 256"
  double time_us = 0;
  std::string limiter;
};

// A named schedule whose kernel multiplies the problem, but not as it is or not on this machine.
struct Refusal {
  std::string what;  // its name
  std::string why;   // which limit or layout, and the way out
};

struct Report {
  Problem problem;
  Schedule schedule;
  Machine machine;
  bool chosen = false;  // by the estimate, since none was given
  Estimate estimate;
  std::vector<Alternative> schedules;  // named ones that fit the problem and machine, fastest first
  std::vector<Refusal> refused;        // those that do not fit
  std::vector<Alternative> changes;  // of this schedule, or of the operands' layout, that gain 3 %
                                     // or more, best first
  std::string limiter;               // one sentence
  std::string remedy;                // one sentence: what would change it
};

// schedule null: the named schedule with the least estimated time; on this machine's CPU the one
// that prepare() takes. Errors: what estimate() refuses; no named schedule fits (the message says
// why the nearest did not). Cost: under 50 ms.
[[nodiscard]] Result<Report> explain(const Problem& problem, const Schedule* schedule,
                                     const Machine& machine);

// For people, in lines of at most about 100 columns.
[[nodiscard]] std::string report_text(const Report& report);

// A drawing: the roofline with a point for each level, and the tiles to scale. One SVG document.
[[nodiscard]] std::string report_svg(const Report& report);

}  // namespace tilewise
