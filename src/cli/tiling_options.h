// The options that name a tiling, as verbs share them.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace tilewise::cli {

// One value for each time the option is given.
inline void add_tiling_options(CLI::App& app, TilingOptions& options) {
  app.add_option("--tile", options.tiles,
                 "b, MxN or MxNxK, or level:...; repeat it from the outside in")
      ->type_name("TILE")
      ->allow_extra_args(false);
  app.add_option("--schedule", options.schedule,
                 "a named schedule (tilewise schedules) or file.json")
      ->type_name("NAME");
}

}  // namespace tilewise::cli
