// A machine by name: those of machines/, and "host".
#pragma once

#include <string_view>

#include "tilewise/machine.h"
#include "tilewise/result.h"

namespace tilewise {

// "host" is this machine, not timed. Errors: the nearest match, and all names.
[[nodiscard]] Result<Machine> find_any_machine(std::string_view name);

}  // namespace tilewise
