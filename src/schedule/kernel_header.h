// What a kernel's file says of itself in the comment at its head: which kernel it is, which fields
// of a schedule it reads (`// Honours`), which problems it takes (`// Needs`).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tilewise/result.h"

namespace tilewise {

// Texts by their names inside kernels/: "ladder/05_square_tile.cuh", "parts/ptx.cuh".
using KernelFiles = std::map<std::string, std::string, std::less<>>;

// The file of a kernel, by the kernel's name: ".../NN_square_tile.cuh" or ".../square_tile.cuh" for
// "square_tile". Error: no such kernel; the message names those that exist.
[[nodiscard]] Result<std::string> find_kernel_file(const KernelFiles& files,
                                                   std::string_view kernel);

// "square_tile" of "ladder/05_square_tile.cuh"; empty for parts.
[[nodiscard]] std::string kernel_name(std::string_view file);

// A line of the header comment: the text after `// <word>`, with its continuation lines (indented
// further) joined. Empty where there is none.
[[nodiscard]] std::string header_line(std::string_view text, std::string_view word);

}  // namespace tilewise
