// A compiled kernel as bytes, for the disk cache and for kernels compiled ahead of time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gpu/compile.h"

namespace tilewise::gpu {

// The key, what is known of the kernel, and its machine code.
[[nodiscard]] std::string pack_kernel(std::string_view key, const CompiledKernel& kernel);

// Nothing where the record is of another key or damaged.
[[nodiscard]] std::optional<CompiledKernel> unpack_kernel(std::string_view key,
                                                          std::string_view record);

}  // namespace tilewise::gpu
