#include "simulate/evaluate_outputs.h"

namespace tilewise {

void evaluate_outputs(const Problem& p, const SimulationInputs&, std::vector<double>&) {
  if (p.epilogue.is_identity()) return;
}

}  // namespace tilewise
