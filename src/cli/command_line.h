// What a verb takes from its command line. The parser behind it is CLI11; its headers cost each
// file that includes them several seconds, so command_line.cpp alone does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewise/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tilewise::cli {

class CommandLine {
 public:
  // A declared option, for what few options need.
  class Option {
   public:
    explicit Option(CLI::Option& option) : option_(&option) {}
    Option& type_name(const std::string& name);  // its value in the help: "FILE"
    Option& required();
    Option& one_value_each_time();  // of a repeated option: the next word is not a further value

   private:
    CLI::Option* option_;
  };

  CommandLine(const std::string& description, const std::string& program);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // name: "--dtype", "-o,--output", or "sizes" for the words that belong to no option. The value
  // must outlive parse().
  Option add_option(const std::string& name, std::string& value, const std::string& help);
  Option add_option(const std::string& name, std::optional<std::string>& value,
                    const std::string& help);
  Option add_option(const std::string& name, std::vector<std::string>& values,
                    const std::string& help);
  void add_flag(const std::string& name, bool& value, const std::string& help);

  enum class Asked { run, help };
  // Fills the values. Every error is one sentence.
  [[nodiscard]] Result<Asked> parse(std::vector<std::string> arguments);
  [[nodiscard]] std::string help() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace tilewise::cli
