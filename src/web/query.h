// A list of named texts, as a URL writes it after the question mark: "m=4096&tile=block:128x128x8".
// The page's state, a schedule and a machine all travel in this form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewise/result.h"

namespace tilewise::web {

class Query {
 public:
  static constexpr std::size_t kMostBytes = 1 << 16;

  // Percent escapes and "+" are decoded. Errors: more than kMostBytes, an escape that is none.
  [[nodiscard]] static Result<Query> parse(std::string_view text);

  void add(std::string_view name, std::string_view value) { items_.emplace_back(name, value); }
  void add(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }

  [[nodiscard]] bool has(std::string_view name) const;
  // The last value of that name, or "".
  [[nodiscard]] std::string_view value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> values(std::string_view name) const;
  // A whole number from low to high, or absent where the name is. Errors name it and the rule.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t low,
                                             std::int64_t high, std::int64_t absent) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& items() const {
    return items_;
  }

  [[nodiscard]] std::string text() const;  // escaped: parse() gives the same list back

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

// A whole number in decimal digits from low to high. what: for messages, "m".
[[nodiscard]] Result<std::int64_t> whole_number(std::string_view what, std::string_view text,
                                                std::int64_t low, std::int64_t high);

// The parts between separators; one part where there is none.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace tilewise::web
