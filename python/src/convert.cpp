#include "convert.h"

#include "errors.h"

namespace nb = nanobind;

namespace tilewise::python {

nb::object to_python(Count count) {
  if (count.overflowed()) raise(PyExc_OverflowError, "a count exceeds 2^127 - 1");
  PyObject* number = PyLong_FromString(count.to_string().c_str(), nullptr, 10);
  if (number == nullptr) throw nb::python_error();
  return nb::steal(number);
}

nb::dict to_python(const TrafficRow& row) {
  nb::dict d;
  d["level"] = row.level;
  d["operand"] = to_string(row.operand);
  d["direction"] = to_string(row.direction);
  d["quantity"] = to_string(row.quantity);
  d["unit"] = row.unit;
  d["counted"] = to_python(row.value);
  return d;
}

nb::list to_python(const Traffic& traffic) {
  return list_of(traffic.rows, [](const TrafficRow& row) { return to_python(row); });
}

std::int64_t integer(nb::handle value, const char* function, const char* name) {
  const std::string what = std::string(function) + ": " + name + " is ";
  PyObject* const index = PyNumber_Index(value.ptr());
  if (index == nullptr) {
    PyErr_Clear();
    raise(PyExc_TypeError,
          what + nb::cast<std::string>(nb::repr(value)) + "; it must be an integer");
  }
  const nb::object number = nb::steal(index);
  int overflow = 0;
  const long long result = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow < 0) {
    raise(PyExc_ValueError, what + nb::cast<std::string>(nb::str(number)) + "; it is 0 or more");
  }
  if (overflow > 0) {
    raise(PyExc_OverflowError,
          what + nb::cast<std::string>(nb::str(number)) + "; integers here end at 2^63 - 1");
  }
  if (result == -1 && PyErr_Occurred()) throw nb::python_error();
  return result;
}

Schedule schedule_of(const std::optional<std::string>& schedule,
                     const std::optional<std::vector<std::string>>& tiles, const char* otherwise) {
  if (schedule && tiles) {
    raise(PyExc_ValueError, "schedule and tiles exclude each other: both name a tiling");
  }
  if (!tiles) {
    const std::string name = schedule.value_or(otherwise);
    return value_or_raise(name.starts_with('{') ? parse_schedule(name) : find_schedule(name));
  }
  Schedule made;
  for (const std::string& text : *tiles) {
    Tile tile = value_or_raise(parse_tile(text));
    // Bare numbers: the block, then the thread.
    if (!made.tiles.empty() && text.find(':') == std::string::npos) tile.level = Level::thread;
    made.tiles.push_back(tile);
  }
  if (!made.tiles.empty() && made.tiles.front().level >= Level::nc) made.device = Device::cpu;
  value_or_raise(validate(made));
  return made;
}

}  // namespace tilewise::python
