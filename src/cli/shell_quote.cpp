#include "cli/shell_quote.h"

#include <algorithm>
#include <cctype>

namespace tilewise::cli {

std::string shell_quoted(std::string_view argument) {
  const bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_./:=+,@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(argument);
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& arguments, std::string_view program) {
  std::string command = shell_quoted(program);
  for (const std::string& argument : arguments) command += ' ' + shell_quoted(argument);
  return command;
}

}  // namespace tilewise::cli
