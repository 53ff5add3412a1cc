// Where compiled kernels come from: this process, the library itself (compiled ahead of time), the
// disk cache, and last the compiler.
#pragma once

#include <memory>
#include <string_view>

#include "gpu/compile.h"

namespace tilewise::gpu {

enum class KernelOrigin { memory, embedded, disk, compiled };
[[nodiscard]] std::string_view to_string(KernelOrigin origin);

struct CachedKernel {
  std::shared_ptr<const CompiledKernel> kernel;
  KernelOrigin origin = KernelOrigin::memory;
};

// Identifies the source, the headers, the options and the architecture; 64 hexadecimal digits.
[[nodiscard]] std::string source_key(const TranslationUnit& unit, std::string_view architecture);

// Thread-safe; two threads that ask for one kernel compile it once. The disk cache's key also
// covers the compiler's version. Errors: those of compile_unit.
[[nodiscard]] Result<CachedKernel> find_kernel(const TranslationUnit& unit,
                                               std::string_view architecture);

}  // namespace tilewise::gpu
