// What a simulation reads: spans of double addressed by the problem's strides.
#pragma once

#include <cstddef>
#include <span>

#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise {

struct SimulationInputs {
  std::span<const double> a, b, c;
  std::span<const std::span<const double>> operands;
};

// One matrix of a batch.
struct InputMatrix {
  std::span<const double> values;
  Strides strides;
  std::int64_t batch = 0;

  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return values[static_cast<std::size_t>(batch * strides.batch +
                                           static_cast<std::int64_t>(row) * strides.row +
                                           static_cast<std::int64_t>(column) * strides.column)];
  }
};

// Every operand that will be read reaches far enough. The message names the one that does not.
[[nodiscard]] Result<void> check_inputs(const Problem& problem, const SimulationInputs& inputs);

}  // namespace tilewise
