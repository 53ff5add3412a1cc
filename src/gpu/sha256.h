// SHA-256 (FIPS 180-4): names the entries of the kernel cache and checks their content.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewise::gpu {

[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::string_view bytes);

// The same as 64 hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace tilewise::gpu
