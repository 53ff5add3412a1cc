// The epilogue of a command line and the matrices of its operands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/product_inputs.h"
#include "tilewise/result.h"

namespace tilewise::cli {

struct EpilogueText {
  std::string expression;
  std::string option;                                      // for messages: which one it came from
  std::vector<std::pair<std::string, std::string>> files;  // operand, path
};

// --bias and --activation as an expression, or --epilogue and --bind as they are. Errors: both at
// once, an unknown activation, a binding that is not name=FILE.
[[nodiscard]] Result<EpilogueText> epilogue_text(const ProductArguments& arguments);

// Parses the expression and binds each operand it reads: to its file, or where random_seed is not
// null to random values. Sets inputs.problem.epilogue, inputs.operands and inputs.c.
[[nodiscard]] Result<void> bind_epilogue(const EpilogueText& text, const std::uint64_t* random_seed,
                                         ProductInputs& inputs);

}  // namespace tilewise::cli
