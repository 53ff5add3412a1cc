// Machine code as text, by NVIDIA's nvdisasm (the toolkit's, or the Python wheel's).
#pragma once

#include <string>
#include <string_view>

#include "tilewise/result.h"

namespace tilewise {

// The path of nvdisasm. Error: it is nowhere.
[[nodiscard]] Result<std::string> find_nvdisasm();

[[nodiscard]] Result<std::string> disassemble(const std::string& nvdisasm, std::string_view cubin);

// How many instructions start with a mnemonic: "HMMA" counts HMMA.16816.F32.BF16.
[[nodiscard]] int count_instructions(std::string_view listing, std::string_view mnemonic);

}  // namespace tilewise
