// Rung 03 without one of its barriers (missing_barriers.cuh), compiled in the place of a rung.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/kernel_files.h"
#include "gpu/translation_unit.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

// kernels/ and the variant, as a kernel file of its own.
[[nodiscard]] KernelFiles files_with_broken_rung(const std::string& kernel);

// "missing_first_barrier" or "missing_second_barrier" as a unit.
[[nodiscard]] Result<TranslationUnit> broken_rung_unit(const std::string& kernel);

struct WrongResults {
  std::int64_t wrong = 0, total = 0;
};
// Runs it on a product whose result is known. Needs a GPU.
[[nodiscard]] Result<WrongResults> run_broken_rung(const std::string& kernel);

}  // namespace tilewise::gpu
