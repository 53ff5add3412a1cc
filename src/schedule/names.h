// Tables of names: one place where an enumerator and its text meet.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "schedule/nearest.h"
#include "tilewise/result.h"

namespace tilewise {

template <class Enum>
using NameTable = std::pair<Enum, std::string_view>;

template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view name_of(const NameTable<Enum> (&table)[N], Enum value) {
  for (const auto& [enumerator, name] : table) {
    if (enumerator == value) return name;
  }
  return "?";
}

template <class Enum, std::size_t N>
[[nodiscard]] Result<Enum> value_of(const NameTable<Enum> (&table)[N], std::string_view what,
                                    std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [enumerator, text] : table) {
    if (text == name) return enumerator;
    names.push_back(text);
  }
  return bad_request(unknown_name(what, name, names));
}

}  // namespace tilewise
