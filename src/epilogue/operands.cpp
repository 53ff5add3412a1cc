#include <algorithm>
#include <cstdint>

#include "tilewise/epilogue.h"

namespace tilewise {

bool Epilogue::reads_c() const {
  const auto* end = instructions.data() + num_instructions;
  return std::any_of(instructions.data(), end,
                     [](Instruction i) { return i.op == EpilogueOp::source; });
}

int find_operand(const Epilogue& epilogue, std::string_view name) {
  for (int i = 0; i < epilogue.num_operands; ++i) {
    if (epilogue.operands[i].name_view() == name) return i;
  }
  return -1;
}

void set_contiguous_operands(Epilogue& epilogue, std::int64_t m, std::int64_t n) {
  for (int i = 0; i < epilogue.num_operands; ++i) {
    EpilogueOperand& operand = epilogue.operands[i];
    const std::int64_t row_length = operand.index_n ? n : 1;
    const std::int64_t num_rows = operand.index_m ? m : 1;
    operand.strides.column = operand.index_n ? 1 : 0;
    operand.strides.row = operand.index_m ? row_length : 0;
    std::int64_t matrix = 0;
    // Beyond 2^63 elements no problem is valid; validate() says so.
    if (__builtin_mul_overflow(num_rows, row_length, &matrix)) matrix = INT64_MAX;
    operand.strides.batch = operand.index_b ? matrix : 0;
  }
}

}  // namespace tilewise
