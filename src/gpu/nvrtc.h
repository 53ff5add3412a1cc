// NVRTC, NVIDIA's run-time compiler, opened when first needed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"

namespace tilewise::gpu {

struct NvrtcProgramHandle;  // NVRTC's own

// Every NVRTC function that we use: X(member, symbol, parameters...). All return int, 0 on success.
#define TILEWISE_NVRTC_FUNCTIONS(X)                                                          \
  X(version, nvrtcVersion, int*, int*)                                                       \
  X(create_program, nvrtcCreateProgram, NvrtcProgramHandle**, const char*, const char*, int, \
    const char* const*, const char* const*)                                                  \
  X(destroy_program, nvrtcDestroyProgram, NvrtcProgramHandle**)                              \
  X(compile_program, nvrtcCompileProgram, NvrtcProgramHandle*, int, const char* const*)      \
  X(get_log_size, nvrtcGetProgramLogSize, NvrtcProgramHandle*, std::size_t*)                 \
  X(get_log, nvrtcGetProgramLog, NvrtcProgramHandle*, char*)                                 \
  X(get_cubin_size, nvrtcGetCUBINSize, NvrtcProgramHandle*, std::size_t*)                    \
  X(get_cubin, nvrtcGetCUBIN, NvrtcProgramHandle*, char*)

struct NvrtcFunctions {
#define TILEWISE_DECLARE(member, symbol, ...) int (*member)(__VA_ARGS__) = nullptr;
  TILEWISE_NVRTC_FUNCTIONS(TILEWISE_DECLARE)
#undef TILEWISE_DECLARE
};

struct Nvrtc {
  NvrtcFunctions call;
  int major = 0, minor = 0;
  std::string path;
  [[nodiscard]] std::string version() const;  // "13.0"
};

// Opens NVRTC once a process: the file named by TILEWISE_NVRTC, then the loader's path, the
// toolkit's folders and the Python wheel's (nvidia-cuda-nvrtc). Error (missing_capability): it is
// nowhere.
[[nodiscard]] Result<const Nvrtc*> nvrtc();

struct NamedText {
  std::string name;
  std::string text;
};

struct NvrtcOutput {
  std::string cubin;
  std::string log;
};

// Compiles one source that may include `headers` by their names. Error: the compiler's log.
[[nodiscard]] Result<NvrtcOutput> compile_cuda(const Nvrtc& nvrtc, const NamedText& source,
                                               std::span<const NamedText> headers,
                                               std::span<const std::string> options);

}  // namespace tilewise::gpu
