// Files of the repository that are compiled into the library (cmake/embed.cmake).
#pragma once

#include <cstddef>
#include <string_view>

namespace tilewise {

struct EmbeddedFile {
  std::string_view name;  // relative to the repository's root
  std::string_view text;
};

}  // namespace tilewise
