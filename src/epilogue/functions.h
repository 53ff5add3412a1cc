// The functions of the epilogue language: one table, read by the parser, the printers and the
// messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewise/epilogue.h"

namespace tilewise {

struct EpilogueFunction {
  std::string_view name;
  int num_arguments = 1;
  EpilogueOp op = EpilogueOp::relu;  // clamp has none of its own: it is min(max(x, lo), hi)
};

[[nodiscard]] std::span<const EpilogueFunction> epilogue_functions();
[[nodiscard]] const EpilogueFunction* find_function(std::string_view name);
[[nodiscard]] const EpilogueFunction* find_function(EpilogueOp op);

// Names that cannot be operands: functions, acc, c, the indices and the matrices of the product.
[[nodiscard]] bool is_reserved(std::string_view name);

// The function whose name is nearest by edits, "" if none is near.
[[nodiscard]] std::string_view nearest_function(std::string_view name);

// "relu, gelu, ...".
[[nodiscard]] std::string function_names();

// Values an instruction takes from the stack (it puts one back): 0, 1 or 2.
[[nodiscard]] int num_inputs(EpilogueOp op);

}  // namespace tilewise
