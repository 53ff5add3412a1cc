// Reads JSON documents strictly: every field is known, typed and within its range, or an error
// names it. No exception leaves these functions; nesting and size are limited before anything is
// built.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"

namespace tilewise {

struct JsonLimits {
  std::size_t bytes = 1 << 20;
  int depth = 16;
};

// The document's value. what: the argument for messages ("schedule"). Errors: not JSON (with line
// and column), a key given twice, too deep or too long.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view what,
                                                const JsonLimits& limits = {});

// One object being read. The first error is kept and later reads return their default, so that a
// caller reads all fields plainly and checks once, with finish().
class ObjectReader {
 public:
  // path: for messages, "schedule" or "schedule.tiles[1]".
  ObjectReader(const nlohmann::json& value, std::string path);

  [[nodiscard]] std::string string(std::string_view name, std::string_view absent = {});
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high,
                                     std::int64_t absent);
  [[nodiscard]] double number(std::string_view name, double absent);
  [[nodiscard]] bool boolean(std::string_view name, bool absent);
  // The position of a string among the valid names.
  [[nodiscard]] std::size_t choice(std::string_view name,
                                   const std::vector<std::string_view>& names, std::size_t absent);
  // The member if present (for nested objects and arrays), else null. array(): must be an array.
  [[nodiscard]] const nlohmann::json* object(std::string_view name);
  [[nodiscard]] const nlohmann::json* array(std::string_view name);

  void require(std::string_view name);                 // an error where it is absent or ""
  void fail(std::string_view name, std::string rule);  // `path.name is <value>; <rule>`
  void fail_with(Error error);
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] std::string path_of(std::string_view name) const;

  // The first error, or one for a member that none of the calls above asked for.
  [[nodiscard]] Result<void> finish();

 private:
  const nlohmann::json* find(std::string_view name);

  const nlohmann::json& value_;
  std::string path_;
  std::vector<std::string_view> known_;  // literals: they outlive the reader
  std::optional<Error> error_;
};

// A value as a message shows it: one short line of JSON.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace tilewise
