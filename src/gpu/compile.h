// From a problem and a schedule to machine code.
#pragma once

#include <string>
#include <string_view>

#include "gpu/translation_unit.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

// What the assembler says of a kernel.
struct KernelResources {
  int registers = 0;  // a thread
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int stack_bytes = 0;
  int static_shared_bytes = 0;
  int barriers = 0;
  bool serialised_wgmma = false;  // the log has "Potential Performance Loss"
  bool operator==(const KernelResources&) const = default;
};

struct CompiledKernel {
  std::string cubin;
  std::string architecture;  // "sm_90a"
  KernelResources resources;
  LaunchInfo launch;
};

// The compiler's options for an architecture.
[[nodiscard]] std::vector<std::string> compile_options(std::string_view architecture);

// Reads `tilewise_kernel`'s entry of the assembler's log (--ptxas-options=-v).
[[nodiscard]] KernelResources parse_resources(std::string_view log);

// Reads `tilewise_launch` out of the machine code. Error: a cubin without it.
[[nodiscard]] Result<LaunchInfo> read_launch_info(std::string_view cubin);

// Compiles with NVRTC; no cache. Errors: no NVRTC here, or the compiler's log.
[[nodiscard]] Result<CompiledKernel> compile_unit(const TranslationUnit& unit,
                                                  std::string_view architecture);

}  // namespace tilewise::gpu
