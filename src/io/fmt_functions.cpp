// fmt's functions, compiled once. Everywhere else fmt::format() is a call of fmt::vformat, which
// the linker finds here; with FMT_HEADER_ONLY in every file each one would compile them anew, in 4
// s.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <string>

namespace tilewise {

// Taking its address makes the compiler keep it, as a weak symbol: a program may link fmt besides.
extern std::string (*const kFormat)(fmt::string_view, fmt::format_args);
std::string (*const kFormat)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace tilewise
