// The explorer as a page and as a notebook's module; the state that it starts with.
#include <nanobind/nanobind.h>

#include "convert.h"
#include "errors.h"
#include "explorer/page.h"
#include "explorer/start.h"
#include "model.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

std::string explorer_start(nb::handle m, nb::handle n, nb::handle k,
                           const std::optional<std::string>& schedule,
                           const std::optional<std::vector<std::string>>& tiles,
                           const std::string& type, const std::string& machine) {
  return value_or_raise(
      explorer::start_state({.sizes = {{integer(m, "explore", "m"), integer(n, "explore", "n"),
                                        integer(k, "explore", "k")}},
                             .schedule = schedule_of(schedule, tiles, "square_tile"),
                             .dtype = type,
                             .machine = machine}));
}

std::string explorer_page(const std::string& start) {
  return value_or_raise(explorer::page(start));
}

std::string explorer_widget() { return value_or_raise(explorer::widget()); }

}  // namespace

void add_explorer(nb::module_& m) {
  m.def("explorer_start", &explorer_start);
  m.def("explorer_page", &explorer_page);
  m.def("explorer_widget", &explorer_widget);
}

}  // namespace tilewise::python
