// The device code: kernels/, embedded in the library, or a folder named by TILEWISE_KERNELS (so
// that a kernel can be edited and run again without a rebuild).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvrtc.h"
#include "schedule/kernel_header.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

// Embedded files, or those of TILEWISE_KERNELS, read anew at each call. Error: an unreadable
// folder.
[[nodiscard]] Result<KernelFiles> kernel_files();

// The files that `file` includes, directly or not, itself first: what a compilation needs, and what
// its cache key covers. Error: an include of a file that does not exist.
[[nodiscard]] Result<std::vector<NamedText>> include_closure(const KernelFiles& files,
                                                             std::string_view file);

}  // namespace tilewise::gpu
