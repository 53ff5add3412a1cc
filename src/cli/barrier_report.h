// What `tilewise simulate --without-barrier` tells.
#pragma once

#include <cstdint>
#include <string>

#include "cli/verb.h"
#include "tilewise/simulate.h"

namespace tilewise::cli {

struct BarrierRun {
  const Problem& problem;
  const Schedule& schedule;
  MissingBarrier missing = MissingBarrier::none;
  std::int64_t seed = 1;
  const BarrierReport& report;
};

[[nodiscard]] std::string barrier_json(const BarrierRun& run, const Console& console);
[[nodiscard]] std::string barrier_text(const BarrierRun& run);

}  // namespace tilewise::cli
