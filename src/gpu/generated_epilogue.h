// The epilogue of a problem as device code: `struct GeneratedEpilogue` (kernels/README.md).
#pragma once

#include <string>

#include "tilewise/problem.h"

namespace tilewise::gpu {

[[nodiscard]] std::string generated_epilogue(const Problem& problem);

}  // namespace tilewise::gpu
