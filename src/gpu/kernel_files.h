// The device code: kernels/, embedded in the library, or a folder named by TILEWISE_KERNELS (so
// that a kernel can be edited and run again without a rebuild).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvrtc.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

// Texts by their names inside kernels/: "ladder/05_square_tile.cuh", "parts/ptx.cuh".
using KernelFiles = std::map<std::string, std::string, std::less<>>;

// Embedded files, or those of TILEWISE_KERNELS, read anew at each call. Error: an unreadable
// folder.
[[nodiscard]] Result<KernelFiles> kernel_files();

// The file of a kernel, by the kernel's name: ".../NN_square_tile.cuh" or ".../square_tile.cuh" for
// "square_tile". Error: no such kernel; the message names those that exist.
[[nodiscard]] Result<std::string> find_kernel_file(const KernelFiles& files,
                                                   std::string_view kernel);

// "square_tile" of "ladder/05_square_tile.cuh"; empty for parts.
[[nodiscard]] std::string kernel_name(std::string_view file);

// The files that `file` includes, directly or not, itself first: what a compilation needs, and what
// its cache key covers. Error: an include of a file that does not exist.
[[nodiscard]] Result<std::vector<NamedText>> include_closure(const KernelFiles& files,
                                                             std::string_view file);

// A line of the header comment: the text after `// <word>`, with its continuation lines (indented
// further) joined. Empty where there is none.
[[nodiscard]] std::string header_line(std::string_view text, std::string_view word);

}  // namespace tilewise::gpu
