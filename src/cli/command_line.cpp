#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <exception>

#include "io/wording.h"

namespace tilewise::cli {
namespace {

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

std::string unexpected_argument(const CLI::App& app, const std::string& argument) {
  const bool number = argument.size() > 1 && argument[0] == '-' &&
                      (std::isdigit(static_cast<unsigned char>(argument[1])) || argument[1] == '.');
  if (number) {
    return fmt::format("{} is negative; sizes are whole numbers of 0 or more", in_quotes(argument));
  }
  if (!argument.starts_with('-')) {
    return fmt::format("unexpected argument {}", in_quotes(argument));
  }
  const std::vector<std::string> names = option_names(app);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string given = argument.substr(0, argument.find('='));
  return fmt::format("unknown option {}{} (options: {})", in_quotes(given),
                     did_you_mean(given, views), join_names(views));
}

}  // namespace

CommandLine::Option& CommandLine::Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

CommandLine::Option& CommandLine::Option::required() {
  option_->required();
  return *this;
}

CommandLine::Option& CommandLine::Option::one_value_each_time() {
  option_->allow_extra_args(false);
  return *this;
}

CommandLine::CommandLine(const std::string& description, const std::string& program)
    : app_(std::make_unique<CLI::App>(description, program)) {
  app_->allow_extras();
  app_->set_help_flag("-h,--help", "this text");
}

CommandLine::~CommandLine() = default;

CommandLine::Option CommandLine::add_option(const std::string& name, std::string& value,
                                            const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}

CommandLine::Option CommandLine::add_option(const std::string& name,
                                            std::optional<std::string>& value,
                                            const std::string& help) {
  return Option(*app_->add_option(name, value, help));
}

CommandLine::Option CommandLine::add_option(const std::string& name,
                                            std::vector<std::string>& values,
                                            const std::string& help) {
  return Option(*app_->add_option(name, values, help));
}

void CommandLine::add_flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

Result<CommandLine::Asked> CommandLine::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return Asked::help;
  } catch (const CLI::ParseError& error) {
    return bad_request(sentence_of(error));
  } catch (const std::exception& error) {
    return bad_request(error.what());
  }
  std::vector<std::string> extra = app_->remaining();
  std::erase(extra, "--");  // what follows it was taken as it stands
  if (!extra.empty()) return bad_request(unexpected_argument(*app_, extra.front()));
  return Asked::run;
}

std::string CommandLine::help() const { return app_->help(); }

}  // namespace tilewise::cli
