// From a command line to one verb: overview, help, and every parse error as one sentence.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "cli/command_line.h"
#include "cli/verb.h"
#include "io/wording.h"
#include "version.h"

namespace tilewise::cli {
namespace {

std::string overview() {
  std::string text =
      "tilewise: tiled matrix multiplication that explains itself\n\n"
      "Examples:\n"
      "  tilewise run 2048 2048 2048\n"
      "  tilewise count 4096 4096 4096 --tile 128\n"
      "  tilewise COMMAND --help\n\n"
      "Commands:\n";
  for (const Verb* verb : verbs()) {
    text += fmt::format("  {:<12}{}\n", verb->name, verb->summary);
  }
  text += "\nOptions:\n  --help      this text\n  --version   the version\n";
  return text;
}

Result<ExitCode> parse_and_run(const Verb& verb, std::vector<std::string> arguments,
                               const Console& console) {
  CommandLine line(fmt::format("Examples:\n{}\n{}", verb.examples, verb.summary),
                   fmt::format("tilewise {}", verb.name));
  const Action action = verb.declare(line);
  const Result<CommandLine::Asked> asked = line.parse(std::move(arguments));
  if (!asked) return std::unexpected(asked.error());
  if (*asked == CommandLine::Asked::help) {
    console.print(line.help());
    return ExitCode::success;
  }
  return action(console);
}

ExitCode fail(const Console& console, std::string_view where, const Error& error) {
  // A message of the library may begin with the verb's own name: said once.
  std::string_view message = error.message;
  const std::string own = where.empty() ? "" : fmt::format("{}: ", where.substr(1));
  if (message.starts_with(own)) message.remove_prefix(own.size());
  console.say(fmt::format("tilewise{}: {}\n", where, message));
  return exit_code(error.code);
}

ExitCode unknown_verb(const Console& console, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Verb* verb : verbs()) names.push_back(verb->name);
  return fail(
      console, "",
      {ErrorCode::bad_request, fmt::format("unknown command {}{} (commands: {})", in_quotes(name),
                                           did_you_mean(name, names), join_names(names))});
}

ExitCode run_verb(const Verb& verb, const std::vector<std::string>& arguments,
                  const Console& console) {
  const std::string where = fmt::format(" {}", verb.name);
  try {
    const Result<ExitCode> code = parse_and_run(verb, arguments, console);
    if (!code) return fail(console, where, code.error());
    if (std::fflush(console.out) != 0 || std::ferror(console.out)) {
      return fail(console, where, {ErrorCode::bad_request, "standard output cannot be written"});
    }
    return *code;
  } catch (const std::bad_alloc&) {
    return fail(console, where,
                {ErrorCode::out_of_memory, "the request takes more memory than is free"});
  } catch (const std::exception& error) {
    return fail(console, where, {ErrorCode::internal, error.what()});
  }
}

}  // namespace

ExitCode exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_request:
    case ErrorCode::out_of_memory:
      return ExitCode::bad_request;
    case ErrorCode::missing_capability:
      return ExitCode::missing_capability;
    case ErrorCode::verification_failed:
      return ExitCode::failed_verification;
    case ErrorCode::internal:
      return ExitCode::internal_error;
  }
  return ExitCode::internal_error;
}

ExitCode run_command(const std::vector<std::string>& arguments, const Console& console) {
  if (arguments.empty()) {
    console.say(overview());
    return ExitCode::bad_request;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    console.print(overview());
    return ExitCode::success;
  }
  if (first == "--version") {
    console.print(fmt::format("tilewise {}\n", kVersion));
    return ExitCode::success;
  }
  for (const Verb* verb : verbs()) {
    if (verb->name == first) {
      return run_verb(*verb, {arguments.begin() + 1, arguments.end()}, console);
    }
  }
  return unknown_verb(console, first);
}

}  // namespace tilewise::cli
