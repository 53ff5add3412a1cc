// The explorer as it is given out: one HTML file with everything in it, the files of a folder that
// a file server hands out, or one module for a notebook.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewise/result.h"

namespace tilewise::explorer {

// All errors: missing_capability where this was built without the page's WebAssembly module.

// start: the page's state where its address has none, such as "m=4096&n=4096&k=4096".
[[nodiscard]] Result<std::string> page(std::string_view start);

// Names and contents of index.html, its modules, module.wasm and data.json.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> files(
    std::string_view start);

// web/widget.js with the same files in it: an ES module that exports anywidget's render().
[[nodiscard]] Result<std::string> widget();

}  // namespace tilewise::explorer
