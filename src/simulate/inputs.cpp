#include "simulate/inputs.h"

#include <string>

#include "tilewise/count.h"

namespace tilewise {
namespace {

// Elements from the first to the last inclusive; sizes are 1 or more.
Count reach(const Strides& s, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  return Count(rows - 1) * s.row + Count(columns - 1) * s.column + Count(batch - 1) * s.batch + 1;
}

Result<void> check(std::string_view name, std::span<const double> values, Count needed) {
  if (needed <= Count(values.size())) return {};
  return bad_request("simulate: " + std::string(name) + " has " + std::to_string(values.size()) +
                     " elements; its shape and strides reach over " + needed.to_string());
}

}  // namespace

Result<void> check_inputs(const Problem& p, const SimulationInputs& in) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return {};
  if (p.k > 0) {
    if (auto ok = check("A", in.a, reach(p.a, p.m, p.k, p.batch)); !ok) return ok;
    if (auto ok = check("B", in.b, reach(p.b, p.k, p.n, p.batch)); !ok) return ok;
  }
  if (p.epilogue.reads_c()) {
    if (auto ok = check("C", in.c, reach(p.c, p.m, p.n, p.batch)); !ok) return ok;
  }
  if (in.operands.size() < p.epilogue.num_operands) {
    return bad_request("simulate: the epilogue has " + std::to_string(p.epilogue.num_operands) +
                       " operands; " + std::to_string(in.operands.size()) + " are given");
  }
  for (std::size_t i = 0; i < p.epilogue.num_operands; ++i) {
    const EpilogueOperand& operand = p.epilogue.operands[i];
    const Count needed = reach(operand.strides, operand.index_m ? p.m : 1,
                               operand.index_n ? p.n : 1, operand.index_b ? p.batch : 1);
    if (auto ok = check("operand " + std::string(operand.name_view()), in.operands[i], needed);
        !ok) {
      return ok;
    }
  }
  return {};
}

}  // namespace tilewise
