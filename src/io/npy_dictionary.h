// The text inside a .npy header: a Python dictionary of three known keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"

namespace tilewise {

struct NpyDictionary {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, keys in any order, each once.
// Anything else that Python could write there is an error (a structured type, for instance).
[[nodiscard]] Result<NpyDictionary> parse_npy_dictionary(std::string_view text);

}  // namespace tilewise
