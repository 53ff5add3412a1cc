// tilewise bench compare BEFORE.json AFTER.json.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace tilewise::cli {

// Prints the comparison; ExitCode::regression where something became slower beyond noise, or wrong.
[[nodiscard]] Result<ExitCode> compare_documents(const std::vector<std::string>& paths,
                                                 double threshold, bool json,
                                                 const Console& console);

}  // namespace tilewise::cli
