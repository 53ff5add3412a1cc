// A report as members of a JSON object ("tilewise.explain/1").
#pragma once

#include "io/json_writer.h"
#include "tilewise/report.h"

namespace tilewise {

// The caller opens and ends the object.
void write_report(JsonWriter& writer, const Report& report);

}  // namespace tilewise
