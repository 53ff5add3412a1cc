// The options that name a tiling, as verbs share them.
#pragma once

#include "cli/arguments.h"
#include "cli/command_line.h"

namespace tilewise::cli {

// One value for each time the option is given.
inline void add_tiling_options(CommandLine& line, TilingOptions& options) {
  line.add_option("--tile", options.tiles,
                  "b, MxN or MxNxK, or level:...; repeat it from the outside in")
      .type_name("TILE")
      .one_value_each_time();
  line.add_option("--schedule", options.schedule,
                  "a named schedule (tilewise schedules) or file.json")
      .type_name("NAME");
}

}  // namespace tilewise::cli
