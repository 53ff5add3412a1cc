// A suite of shapes: bench/suites/*.csv, columns name,m,n,k,batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/result.h"

namespace tilewise {

struct SuiteShape {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

struct Suite {
  std::string name;  // the stem of its file
  std::vector<SuiteShape> shapes;
};

// Errors name the line: another header, a wrong number of fields, no whole number, a name twice.
[[nodiscard]] Result<std::vector<SuiteShape>> parse_suite(std::string_view csv);
[[nodiscard]] Result<Suite> read_suite(const std::string& path);

}  // namespace tilewise
