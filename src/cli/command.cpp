// From a command line to one verb: overview, help, and every parse error as one sentence.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <exception>
#include <new>

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

// CLI11's own errors, in our words: an option without its value, given twice, or a flag with a
// value.
std::string sentence_of(const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::string option = text.substr(0, text.find(':'));
  if (text.ends_with("missing")) return fmt::format("{} needs a value", option);
  if (text.find("At Most 1") != std::string::npos) {
    return fmt::format("{} is given more than once; it takes one value", option);
  }
  if (error.get_name() == "ConversionError" && text.find(" = ") != std::string::npos) {
    const std::size_t name = text.find(": ") + 2;
    const std::size_t value = text.find(" = ");
    return fmt::format("{} is {}; it takes no value", text.substr(name, value - name),
                       in_quotes(text.substr(value + 3)));
  }
  return text;
}

// Long names of the options, for the nearest match.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Error unexpected_argument(const CLI::App& app, const std::string& argument) {
  const bool number = argument.size() > 1 && argument[0] == '-' &&
                      (std::isdigit(static_cast<unsigned char>(argument[1])) || argument[1] == '.');
  if (number) {
    return {
        ErrorCode::bad_request,
        fmt::format("{} is negative; sizes are whole numbers of 0 or more", in_quotes(argument))};
  }
  if (!argument.starts_with('-')) {
    return {ErrorCode::bad_request, fmt::format("unexpected argument {}", in_quotes(argument))};
  }
  const std::vector<std::string> names = option_names(app);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string given = argument.substr(0, argument.find('='));
  return {ErrorCode::bad_request, fmt::format("unknown option {}{} (options: {})", in_quotes(given),
                                              did_you_mean(given, views), join_names(views))};
}

Result<ExitCode> parse_and_run(const Verb& verb, std::vector<std::string> arguments,
                               const Console& console) {
  CLI::App app(fmt::format("Examples:\n{}\n{}", verb.examples, verb.summary),
               fmt::format("tilewise {}", verb.name));
  app.allow_extras();
  app.set_help_flag("-h,--help", "this text");
  const Action action = verb.declare(app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    console.print(app.help());
    return ExitCode::success;
  } catch (const CLI::ParseError& error) {
    return bad_request(sentence_of(error));
  } catch (const std::exception& error) {
    return bad_request(error.what());
  }
  std::vector<std::string> extra = app.remaining();
  std::erase(extra, "--");  // what follows it was taken as it stands
  if (!extra.empty()) return std::unexpected(unexpected_argument(app, extra.front()));
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

ExitCode run_command(const std::vector<std::string>& arguments, Console console) {
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
