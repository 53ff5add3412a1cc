// What a verb of the command is: a name, words for people, and a function that declares its
// options.
#pragma once

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"

namespace tilewise::cli {

class CommandLine;

// Exit codes of the command (docs/cli.md).
enum class ExitCode : int {
  success = 0,
  failed_verification = 1,
  bad_request = 2,
  missing_capability = 3,
  regression = 4,
  internal_error = 5,
};

// Where a verb writes: data to out, words to err.
struct Console {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  std::string program = "tilewise";  // as it was called
  std::string command;               // the command line as a shell would read it

  void print(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), out); }
  void say(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), err); }
};

using Action = std::function<Result<ExitCode>(const Console&)>;

struct Verb {
  std::string_view name;
  std::string_view summary;   // one line
  std::string_view examples;  // lines, each a command
  Action (*declare)(CommandLine& line);
};

// Every verb, in the order of the overview. A new one: its file src/cli/<name>.cpp defines
// `const Verb k<Name>Verb`, and verbs.cpp lists it.
[[nodiscard]] std::span<const Verb* const> verbs();

// Runs one command line (without the program's name). Never throws.
[[nodiscard]] ExitCode run_command(const std::vector<std::string>& arguments,
                                   const Console& console);

[[nodiscard]] ExitCode exit_code(ErrorCode code);

}  // namespace tilewise::cli
