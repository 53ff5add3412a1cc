#include "report/find_any_machine.h"

#include <string>
#include <vector>

#include "schedule/nearest.h"

namespace tilewise {

Result<Machine> find_any_machine(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Machine& machine : named_machines()) {
    if (machine.name == name) return machine;
    names.push_back(machine.name);
  }
  if (name == "host") return host_machine();
  names.push_back("host");
  return bad_request(unknown_name("machine", name, names));
}

}  // namespace tilewise
