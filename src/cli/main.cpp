#include <string>
#include <vector>

#include "cli/shell_quote.h"
#include "cli/verb.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  tilewise::cli::Console console;
  if (argc > 0) console.program = argv[0];
  console.command = tilewise::cli::shell_command(arguments);
  return static_cast<int>(tilewise::cli::run_command(arguments, console));
}
