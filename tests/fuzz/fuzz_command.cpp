// The command line: each line of the input is one argument. Whatever it is, the command ends with
// one of its exit codes, never with an internal error.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"

namespace {

using namespace tilewise::cli;

std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // A command line cannot hold a zero byte.
    arguments.emplace_back(text.substr(0, std::min(end, text.find('\0'))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return arguments;
}

// Numbers of three digits and more, and what measures the machine, would take their time; a path
// with a slash would leave the empty folder that the fuzzer works in.
bool is_cheap(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    int digits = 0;
    for (const char c : argument) {
      digits = std::isdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
      if (digits > 2 || c == '/') return false;
    }
    if (argument.find("--meas") != std::string::npos) return false;
  }
  return arguments.empty() || (arguments[0] != "bench" && arguments[0] != "machines");
}

// Verbs whose work grows with the sizes; the others take any number.
bool computes(const std::vector<std::string>& arguments) {
  constexpr std::string_view kClosedForm[] = {"count", "schedules"};
  return arguments.empty() || std::find(std::begin(kClosedForm), std::end(kClosedForm),
                                        arguments[0]) == std::end(kClosedForm);
}

// Standard input and output are empty, and files are written to a folder of their own.
std::FILE* open_nothing() {
  char folder[] = "/tmp/tilewise_fuzz_XXXXXX";
  if (::mkdtemp(folder) == nullptr || ::chdir(folder) != 0) std::abort();
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  return ::fdopen(nothing, "w");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> arguments = arguments_of(text);
  const bool has_slash = text.find('/') != std::string_view::npos;
  if (has_slash || (computes(arguments) && !is_cheap(arguments))) return 0;
  static std::FILE* const nothing = open_nothing();
  Console console;
  console.out = console.err = nothing;
  if (run_command(arguments, console) == ExitCode::internal_error) std::abort();
  return 0;
}
