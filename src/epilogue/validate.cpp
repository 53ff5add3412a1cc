#include <cmath>
#include <string>

#include "epilogue/functions.h"
#include "tilewise/epilogue.h"

namespace tilewise {
namespace {

std::unexpected<Error> invalid(int index, const std::string& what) {
  return bad_request("epilogue: instruction " + std::to_string(index) + " " + what +
                     "; take what parse_epilogue returns");
}

// Null, or the stride that is set though its index is absent.
const char* dimension_of_wrong_stride(const EpilogueOperand& operand) {
  if (!operand.index_b && operand.strides.batch != 0) return "batch";
  if (!operand.index_m && operand.strides.row != 0) return "row";
  if (!operand.index_n && operand.strides.column != 0) return "column";
  return nullptr;
}

}  // namespace

Result<void> validate(const Epilogue& epilogue) {
  if (epilogue.num_instructions > Epilogue::kMaxInstructions ||
      epilogue.num_constants > Epilogue::kMaxConstants ||
      epilogue.num_operands > Epilogue::kMaxOperands) {
    return bad_request("epilogue: a count exceeds its array; take what parse_epilogue returns");
  }
  int depth = 0;
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    if (op > EpilogueOp::abs) return invalid(i, "is no operation");
    if (op == EpilogueOp::constant && argument >= epilogue.num_constants) {
      return invalid(i, "reads a constant that does not exist");
    }
    if (op == EpilogueOp::operand && argument >= epilogue.num_operands) {
      return invalid(i, "reads an operand that does not exist");
    }
    if (depth < num_inputs(op)) return invalid(i, "lacks a value to work on");
    depth += 1 - num_inputs(op);
    if (depth > Epilogue::kMaxDepth) return invalid(i, "keeps too many values alive");
  }
  if (depth != 1) {
    return bad_request("epilogue: it leaves " + std::to_string(depth) +
                       " values, not one; take what parse_epilogue returns");
  }
  for (int i = 0; i < epilogue.num_constants; ++i) {
    if (!std::isfinite(epilogue.constants[i])) {
      return bad_request("epilogue: constant " + std::to_string(i) + " is not finite");
    }
  }
  for (int i = 0; i < epilogue.num_operands; ++i) {
    if (epilogue.operands[i].name.back() != '\0' || epilogue.operands[i].name.front() == '\0') {
      return bad_request("epilogue: operand " + std::to_string(i) + " has no proper name");
    }
    if (const char* dimension = dimension_of_wrong_stride(epilogue.operands[i])) {
      return bad_request("epilogue: operand " + std::string(epilogue.operands[i].name_view()) +
                         " has a " + dimension + " stride but no such index; set it to 0");
    }
  }
  return {};
}

}  // namespace tilewise
