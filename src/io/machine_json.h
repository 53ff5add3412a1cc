// A machine as part of a larger JSON document; tilewise/machine.h has the rest.
#pragma once

#include "io/json_writer.h"
#include "tilewise/machine.h"

namespace tilewise {

void write_machine(JsonWriter& writer, const Machine& machine);

}  // namespace tilewise
