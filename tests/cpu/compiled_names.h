// The targets that this library holds, for tests that run once for each.
#pragma once

#include <vector>

#include "cpu/targets.h"

namespace tilewise::testing {

inline std::vector<const char*> compiled_names() {
  std::vector<const char*> names;
  for (const cpu::KernelTable* table : cpu::compiled_targets()) names.push_back(table->target);
  return names;
}

}  // namespace tilewise::testing
