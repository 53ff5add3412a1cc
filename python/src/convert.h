// The library's values as Python's: counts as integers of any length, structures as dicts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "tilewise/count.h"
#include "tilewise/problem.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"

namespace tilewise::python {

// OverflowError for a count beyond 2^127 - 1.
[[nodiscard]] nanobind::object to_python(Count count);
[[nodiscard]] nanobind::dict to_python(const TrafficRow& row);
[[nodiscard]] nanobind::list to_python(const Traffic& traffic);

template <class T, class Convert>
nanobind::list list_of(const T& values, const Convert& convert) {
  nanobind::list list;
  for (const auto& value : values) list.append(convert(value));
  return list;
}

// A size or a tile's extent: an integer of 63 bits. OverflowError, TypeError name the argument.
[[nodiscard]] std::int64_t integer(nanobind::handle value, const char* function, const char* name);

// What the faces of the model share: JSON of a schedule, or its name; else tiles from the outside
// in, as in "block:128x128x8".
[[nodiscard]] Schedule schedule_of(const std::optional<std::string>& schedule,
                                   const std::optional<std::vector<std::string>>& tiles,
                                   const char* otherwise);

}  // namespace tilewise::python
