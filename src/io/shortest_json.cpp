#include <array>
#include <charconv>
#include <cmath>

#include "io/json_writer.h"

namespace tilewise {

std::string shortest_json(double number) {
  if (!std::isfinite(number)) return "null";
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return std::string(buffer.data(), end);
}

}  // namespace tilewise
