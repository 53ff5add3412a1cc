#include "epilogue/cost.h"

#include "epilogue/functions.h"

namespace tilewise {
namespace {

// A value on the postfix stack: the dimensions along which it varies, and the bytes to read it
// once.
struct Value {
  bool b = false, m = false, n = false;
  Count bytes;
};

Count num_elements(const EpilogueShape& shape, bool b, bool m, bool n) {
  return Count(b ? shape.batch : 1) * Count(m ? shape.m : 1) * Count(n ? shape.n : 1);
}

OperandCost operand_cost(const EpilogueShape& shape, bool b, bool m, bool n, Type type) {
  const Count elements = num_elements(shape, b, m, n);
  return {elements, elements * Count(size_bytes(type)), num_elements(shape, true, true, true)};
}

// The operands that the instructions read, and C.
void count_operands(const Epilogue& epilogue, const EpilogueShape& shape, EpilogueCost& cost) {
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    if (op == EpilogueOp::source) {
      cost.c = operand_cost(shape, !shape.c_is_shared, true, true, shape.type_c);
    } else if (op == EpilogueOp::operand) {
      const EpilogueOperand& x = epilogue.operands[argument];
      cost.operands[argument] = operand_cost(shape, x.index_b, x.index_m, x.index_n, x.type);
    }
  }
  cost.fused_bytes = cost.c.bytes;
  for (const OperandCost& operand : cost.operands) cost.fused_bytes += operand.bytes;
}

Value leaf(const Epilogue& epilogue, const EpilogueShape& shape, const EpilogueCost& cost,
           Epilogue::Instruction instruction) {
  const Count whole = num_elements(shape, true, true, true);
  switch (instruction.op) {
    case EpilogueOp::acc:
      return {true, true, true, whole * Count(size_bytes(shape.type_d))};
    case EpilogueOp::source:
      return {true, true, true, cost.c.bytes};
    case EpilogueOp::operand: {
      const EpilogueOperand& x = epilogue.operands[instruction.argument];
      return {x.index_b, x.index_m, x.index_n, cost.operands[instruction.argument].bytes};
    }
    default:
      return {};
  }
}

void count_passes(const Epilogue& epilogue, const EpilogueShape& shape, EpilogueCost& cost) {
  std::array<Value, Epilogue::kMaxDepth> stack;
  int depth = 0;
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const Epilogue::Instruction instruction = epilogue.instructions[i];
    const int inputs = num_inputs(instruction.op);
    if (inputs == 0) {
      stack[depth++] = leaf(epilogue, shape, cost, instruction);
      continue;
    }
    Value result = stack[depth - inputs];
    if (inputs == 2) {
      const Value& y = stack[depth - 1];
      result = {result.b || y.b, result.m || y.m, result.n || y.n, result.bytes + y.bytes};
    }
    depth -= inputs - 1;
    if (result.bytes > Count(0)) {
      const Count read = result.bytes;
      result.bytes =
          num_elements(shape, result.b, result.m, result.n) * Count(size_bytes(shape.type_d));
      cost.unfused_bytes += read + result.bytes;
      ++cost.passes;
    }
    stack[depth - 1] = result;
  }
}

}  // namespace

EpilogueCost epilogue_cost(const Epilogue& epilogue, const EpilogueShape& shape) {
  EpilogueCost cost;
  if (shape.m <= 0 || shape.n <= 0 || shape.batch <= 0) return cost;
  count_operands(epilogue, shape, cost);
  count_passes(epilogue, shape, cost);
  if (cost.passes > 0) cost.saved_bytes = cost.unfused_bytes - cost.fused_bytes;
  return cost;
}

Count operand_reads(const EpilogueOperand& operand, const EpilogueShape& shape, Count tiles_m,
                    Count tiles_n) {
  if (shape.m <= 0 || shape.n <= 0 || shape.batch <= 0) return Count(0);
  return (operand.index_m ? Count(shape.m) : tiles_m) *
         (operand.index_n ? Count(shape.n) : tiles_n) * Count(shape.batch);
}

}  // namespace tilewise
