// The epilogue of a simulation, applied to every finished sum.
#pragma once

#include <vector>

#include "simulate/inputs.h"
#include "tilewise/problem.h"

namespace tilewise {

// d: (batch, m, n) sums, replaced by the epilogue's values, in the arithmetic of the problem.
void evaluate_outputs(const Problem& problem, const SimulationInputs& inputs,
                      std::vector<double>& d);

}  // namespace tilewise
