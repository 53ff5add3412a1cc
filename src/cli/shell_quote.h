// Command lines as text that a shell reads back to the same arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewise::cli {

[[nodiscard]] std::string shell_quoted(std::string_view argument);

// The program and the arguments.
[[nodiscard]] std::string shell_command(const std::vector<std::string>& arguments,
                                        std::string_view program = "tilewise");

}  // namespace tilewise::cli
