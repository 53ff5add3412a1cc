// The nearest valid name, for messages about unknown ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

// Insertions, deletions, substitutions and swaps of neighbours, upper and lower case alike.
[[nodiscard]] std::size_t edit_distance(std::string_view x, std::string_view y);

// The closest of `names` if it is close enough to be a slip of the keyboard, else empty.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            const std::vector<std::string_view>& names);

// `unknown schedule "sqare_tile"; did you mean "square_tile"? valid: a, b, c`
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view name,
                                       const std::vector<std::string_view>& names);

}  // namespace tilewise
