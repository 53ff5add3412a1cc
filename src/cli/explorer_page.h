// The explorer as it is written: one HTML file with everything in it, or the files of a folder that
// a file server hands out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewise/result.h"

namespace tilewise::cli {

// start: the page's state where its address has none, such as "m=4096&n=4096&k=4096".
// Errors: missing_capability where this command was built without the page's module.
[[nodiscard]] Result<std::string> explorer_page(std::string_view start);

// Names and contents of index.html, its modules, module.wasm and data.json.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> explorer_files(
    std::string_view start);

}  // namespace tilewise::cli
