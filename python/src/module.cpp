// tilewise._core: the public headers for Python. It holds no logic of its own.
#include <nanobind/nanobind.h>

#include "matmul.h"
#include "model.h"
#include "numpy_arrays.h"

NB_MODULE(_core, m) {
  m.attr("__version__") = TILEWISE_VERSION;
  tilewise::python::import_numpy();
  tilewise::python::add_matmul(m);
  tilewise::python::add_exercises(m);
  tilewise::python::add_model(m);
  tilewise::python::add_measurements(m);
  tilewise::python::add_explorer(m);
}
