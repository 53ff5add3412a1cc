// tilewise.matmul: arguments to a product, without a line of Python in between.
#pragma once

#include <nanobind/nanobind.h>

namespace tilewise::python {

// Adds matmul and describe_matmul to the module.
void add_matmul(nanobind::module_& module);

}  // namespace tilewise::python
