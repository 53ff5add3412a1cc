// What a document says about where it was made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/verb.h"
#include "io/json_writer.h"

namespace tilewise::cli {

// A further member of the environment: a name, and a text or a whole number.
using ExtraMember = std::pair<std::string_view, std::variant<std::string, std::int64_t>>;

// Opens the document's object, with "schema" and "environment"; the caller adds members and ends
// it. data: what the inputs were ("none", "normal, seed 1", file names).
void begin_document(JsonWriter& writer, std::string_view schema, const Console& console,
                    std::string_view data, const std::vector<ExtraMember>& more = {});

}  // namespace tilewise::cli
