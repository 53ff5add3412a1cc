// The little of the ELF format that a cubin's readers need.
#pragma once

#include <optional>
#include <string_view>

namespace tilewise::gpu {

// The initial value of a variable of a 64-bit little-endian ELF image, by its symbol's name;
// nothing where the image is damaged, has no such symbol, or the symbol has no stored value.
[[nodiscard]] std::optional<std::string_view> elf_variable(std::string_view image,
                                                           std::string_view name);

}  // namespace tilewise::gpu
