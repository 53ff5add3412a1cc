#include "schedule/nearest.h"

#include <algorithm>

namespace tilewise {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<std::size_t> before, previous(y.size() + 1), current(y.size() + 1);
  for (std::size_t j = 0; j <= y.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= x.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= y.size(); ++j) {
      const std::size_t change = lower(x[i - 1]) != lower(y[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && lower(x[i - 1]) == lower(y[j - 2]) &&
                           lower(x[i - 2]) == lower(y[j - 1]);
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous.swap(current);
    current.resize(y.size() + 1);
  }
  return previous[y.size()];
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& names) {
  // A name of many thousand characters is no slip of the keyboard, and the distance is quadratic.
  if (name.empty() || name.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string_view candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view name,
                         const std::vector<std::string_view>& names) {
  std::string message = "unknown " + std::string(what) + " \"" + std::string(name.substr(0, 64)) +
                        (name.size() > 64 ? "...\"" : "\"");
  const std::string_view nearest = nearest_name(name, names);
  if (!nearest.empty()) message += "; did you mean \"" + std::string(nearest) + "\"?";
  message += nearest.empty() ? "; valid: " : " valid: ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) message += ", ";
    message += names[i];
  }
  return message;
}

}  // namespace tilewise
