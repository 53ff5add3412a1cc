// Pieces of messages: a value as it is shown, a list of names, "did you mean".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

// A value as a message shows it: quoted, control characters escaped, cut after 60 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "a, b, c"
[[nodiscard]] std::string join_names(const std::vector<std::string_view>& names);

// `; did you mean "tile"?`, or "" where none of the names is near (schedule/nearest.h).
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       const std::vector<std::string_view>& names);

}  // namespace tilewise
