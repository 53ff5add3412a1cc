#include "epilogue/evaluate.h"

namespace tilewise {

void evaluate_portable(const Epilogue& epilogue, const TileContext& context, float* tile) {
  evaluate_tile(epilogue, context, tile);
}

void evaluate_portable(const Epilogue& epilogue, const TileContext& context, double* tile) {
  evaluate_tile(epilogue, context, tile);
}

}  // namespace tilewise
