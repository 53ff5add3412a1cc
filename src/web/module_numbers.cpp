// Numbers as text inside the module: 17 digits, which read back to the same double. The library's
// shortest form (src/io/shortest_json.cpp) needs tables of 100 kB, half as much as the whole
// module.
#include <array>
#include <cmath>
#include <cstdio>

#include "io/json_writer.h"

namespace tilewise {

std::string shortest_json(double number) {
  if (!std::isfinite(number)) return "null";
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.17g", number);
  return buffer.data();
}

}  // namespace tilewise
