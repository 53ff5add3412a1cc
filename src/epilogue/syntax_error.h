// The message of an expression that does not parse: what is wrong, where, and the text with a
// caret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tilewise/result.h"

namespace tilewise {

//     epilogue: <what> at position 5
//         acc + * bias[n]
//               ^
// Long texts are cut to a window around the position; bytes that are not printable ASCII show as
// '?'.
[[nodiscard]] Error syntax_error(std::string_view text, std::size_t position,
                                 std::string_view what);

// A piece of the user's text, safe to show: printable, at most 40 bytes.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace tilewise
