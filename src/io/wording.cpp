#include "io/wording.h"

#include "io/json_writer.h"
#include "schedule/nearest.h"

namespace tilewise {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongestShown = 60;
  const bool cut = text.size() > kLongestShown;
  return '"' + escape_json(text.substr(0, kLongestShown)) + (cut ? "...\"" : "\"");
}

std::string join_names(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) {
    if (!joined.empty()) joined += ", ";
    joined += name;
  }
  return joined;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string_view>& names) {
  const std::string_view nearest = nearest_name(given, names);
  return nearest.empty() ? std::string() : "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace tilewise
