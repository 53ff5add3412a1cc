// Moves to src/epilogue with the rest of the expression: delete this file when it defines reads_c().
#include "tilewise/epilogue.h"

namespace tilewise {

bool Epilogue::reads_c() const {
  for (int i = 0; i < num_instructions; ++i) {
    if (instructions[static_cast<std::size_t>(i)].op == EpilogueOp::source) return true;
  }
  return false;
}

}  // namespace tilewise
