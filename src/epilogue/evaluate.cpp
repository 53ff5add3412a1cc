#include "epilogue/evaluate.h"

namespace tilewise {

EpilogueProgram program_of(const Epilogue& epilogue) {
  return {epilogue.instructions.data(), epilogue.constants.data(), epilogue.operands.data(),
          epilogue.num_instructions};
}

void evaluate_portable(const Epilogue& epilogue, const TileContext& context, float* tile) {
  evaluate_tile(epilogue, context, tile);
}

void evaluate_portable(const Epilogue& epilogue, const TileContext& context, double* tile) {
  evaluate_tile(epilogue, context, tile);
}

}  // namespace tilewise
