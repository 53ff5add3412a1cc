// A schedule as part of a larger JSON document; tilewise/schedule.h has the rest.
#pragma once

#include "io/json_writer.h"
#include "tilewise/schedule.h"

namespace tilewise {

void write_schedule(JsonWriter& writer, const Schedule& schedule);

}  // namespace tilewise
