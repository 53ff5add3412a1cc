// The model's questions: count, simulate, bound, explain, mma, and the tables behind them; the page
// that shows them.
#pragma once

#include <nanobind/nanobind.h>

namespace tilewise::python {

void add_exercises(nanobind::module_& module);
void add_explorer(nanobind::module_& module);
void add_model(nanobind::module_& module);
void add_measurements(nanobind::module_& module);

}  // namespace tilewise::python
