#include "simulate/evaluate_outputs.h"

#include "epilogue/evaluate.h"

namespace tilewise {
namespace {

// The simulation holds every operand as double, whatever the types of the problem.
Epilogue with_double_operands(Epilogue epilogue) {
  for (EpilogueOperand& operand : epilogue.operands) operand.type = Type::f64;
  return epilogue;
}

template <class T>
void evaluate(const TileContext& context, const Epilogue& epilogue, std::span<double> matrix) {
  std::vector<T> tile(matrix.begin(), matrix.end());
  evaluate_tile(epilogue, context, tile.data());
  for (std::size_t i = 0; i < tile.size(); ++i) matrix[i] = static_cast<double>(tile[i]);
}

}  // namespace

void evaluate_outputs(const Problem& p, const SimulationInputs& inputs, std::vector<double>& d) {
  if (p.epilogue.is_identity()) return;
  const Epilogue epilogue = with_double_operands(p.epilogue);
  std::vector<const void*> operands;
  for (const auto& operand : inputs.operands) operands.push_back(operand.data());
  TileContext context;
  context.rows = p.m;
  context.columns = context.row_stride = p.n;
  context.operands = operands.data();
  context.c = inputs.c.data();
  context.c_strides = p.c;
  context.c_type = Type::f64;
  const auto outputs = static_cast<std::size_t>(p.m * p.n);
  for (context.b = 0; context.b < p.batch; ++context.b) {
    const std::span<double> matrix(d.data() + static_cast<std::size_t>(context.b) * outputs,
                                   outputs);
    p.compute == Compute::f64 ? evaluate<double>(context, epilogue, matrix)
                              : evaluate<float>(context, epilogue, matrix);
  }
}

}  // namespace tilewise
