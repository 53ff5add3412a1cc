// Two measurements of the same shapes: what became slower beyond noise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/bench_document.h"
#include "tilewise/result.h"

namespace tilewise {

enum class Change : std::uint8_t { same, faster, slower, wrong };
[[nodiscard]] std::string_view to_string(Change change);

struct ComparedRow {
  BenchRow before, after;
  double ratio = 1;  // after over before: above 1 is slower
  Change change = Change::same;
};

struct Comparison {
  std::vector<ComparedRow> rows;
  std::vector<std::string> only_before, only_after;  // names without a partner
  double geomean_ratio = 1;

  [[nodiscard]] bool has_regression() const;
};

// Rows match where suite, name, sizes, types, layout, epilogue, device and threads are the same
// (and the schedule, where that alone tells rows apart). A row is slower where its median grew by
// more than `threshold` (0.03 is 3 %) and the middle halves of the two measurements do not overlap:
// a change within the scatter of either is noise. Wrong: verified before, not after. Errors: no row
// matches.
[[nodiscard]] Result<Comparison> compare(const BenchDocument& before, const BenchDocument& after,
                                         double threshold);

}  // namespace tilewise
