// Kernels compiled ahead of time and linked into the library.
#pragma once

#include <optional>
#include <string_view>

#include "gpu/compile.h"

namespace tilewise::gpu {

// The kernel with this source key (kernel_cache.h), if it was compiled when the library was built.
[[nodiscard]] std::optional<CompiledKernel> find_embedded_cubin(std::string_view source_key);

[[nodiscard]] std::size_t num_embedded_cubins();

}  // namespace tilewise::gpu
