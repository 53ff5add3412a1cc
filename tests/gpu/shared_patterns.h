// The patterns of shared_patterns.cuh and what the model says that each costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/translation_unit.h"
#include "tilewise/access.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

struct SharedPattern {
  std::string instruction;  // by the start of its name in the machine code: "LDS.128"
  std::string name;
  WarpAccess access;
  int wavefronts = 0;              // by tilewise/access.h
  std::vector<bool> zero_filled;   // lanes of a copy that write zeros; empty: none
  bool known = true;               // false: no rule, to be recorded
  std::optional<WarpAccess> from;  // of a copy with a source of its own
};

// In the order of the machine code.
[[nodiscard]] std::vector<SharedPattern> shared_patterns();

// The kernel as a unit of its own.
[[nodiscard]] Result<TranslationUnit> patterns_unit();

// The table that the kernel reads.
[[nodiscard]] std::vector<int> pattern_offsets(const std::vector<SharedPattern>& patterns);

}  // namespace tilewise::gpu
