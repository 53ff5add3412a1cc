#include "epilogue/device_code.h"

#include <charconv>
#include <vector>

#include "epilogue/functions.h"

namespace tilewise {
namespace {

std::string_view device_function(EpilogueOp op) {
  switch (op) {
    case EpilogueOp::minimum:
      return "minimum";
    case EpilogueOp::maximum:
      return "maximum";
    case EpilogueOp::relu:
      return "relu";
    case EpilogueOp::gelu_erf:
      return "gelu_erf";
    case EpilogueOp::gelu_tanh:
      return "gelu_tanh";
    case EpilogueOp::silu:
      return "silu";
    case EpilogueOp::sigmoid:
      return "sigmoid";
    case EpilogueOp::tanh:
      return "hyperbolic_tangent";
    case EpilogueOp::exp:
      return "exponential";
    case EpilogueOp::abs:
      return "absolute";
    default:
      return "";
  }
}

std::string_view sign(EpilogueOp op) {
  switch (op) {
    case EpilogueOp::add:
      return "+";
    case EpilogueOp::subtract:
      return "-";
    case EpilogueOp::multiply:
      return "*";
    case EpilogueOp::divide:
      return "/";
    default:
      return "";
  }
}

// A double literal that reads back as the same value: with a point or an exponent, since without
// one it would be an integer.
std::string print_constant(double value) {
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, error == std::errc() ? end : buffer);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return "T(" + text + ")";
}

// epilogue::load<T, bf16>(arguments.operands[0], m * arguments.operands[0].row + ...)
std::string print_load(const std::string& matrix, Type type, bool index_b, bool index_m,
                       bool index_n) {
  std::string offset;
  const auto add = [&](bool present, const char* index, const char* stride) {
    if (!present) return;
    if (!offset.empty()) offset += " + ";
    offset += std::string(index) + " * " + matrix + "." + stride;
  };
  add(index_b, "b", "batch");
  add(index_m, "m", "row");
  add(index_n, "n", "column");
  return "epilogue::load<T, " + std::string(device_type_name(type)) + ">(" + matrix + ", " +
         (offset.empty() ? "0" : offset) + ")";
}

std::string print_expression(const Epilogue& epilogue) {
  std::vector<std::string> stack;
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    switch (num_inputs(op)) {
      case 0:
        stack.push_back(op == EpilogueOp::acc        ? "accumulator"
                        : op == EpilogueOp::source   ? "c"
                        : op == EpilogueOp::constant ? print_constant(epilogue.constants[argument])
                                                     : "x" + std::to_string(argument));
        break;
      case 1:
        stack.back() = op == EpilogueOp::negate ? "(-" + stack.back() + ")"
                                                : "epilogue::" + std::string(device_function(op)) +
                                                      "(" + stack.back() + ")";
        break;
      default: {
        const std::string y = std::move(stack.back());
        stack.pop_back();
        const std::string_view between = sign(op);
        stack.back() = between.empty()
                           ? "epilogue::" + std::string(device_function(op)) + "(" + stack.back() +
                                 ", " + y + ")"
                           : "(" + stack.back() + " " + std::string(between) + " " + y + ")";
      }
    }
  }
  return stack.back();
}

bool reads_operand(const Epilogue& epilogue, int index) {
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    if (op == EpilogueOp::operand && argument == index) return true;
  }
  return false;
}

// Whether reading operands or calling functions makes up for a way through shared memory: a kernel
// may then evaluate a short loop over neighbours of a row instead of each accumulator where it
// lies.
bool gains_from_shared_memory(const Epilogue& epilogue) {
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const EpilogueOp op = epilogue.instructions[i].op;
    if (op == EpilogueOp::operand || op == EpilogueOp::source) return true;
    if (!device_function(op).empty() && op != EpilogueOp::relu) return true;
  }
  return false;
}

}  // namespace

std::string_view device_type_name(Type type) {
  switch (type) {
    case Type::f64:
      return "double";
    case Type::f32:
      return "float";
    case Type::bf16:
      return "bf16";
    case Type::f16:
      return "f16";
    case Type::f8e4m3:
      return "f8e4m3";
    case Type::f8e5m2:
      return "f8e5m2";
  }
  return "";
}

std::string print_device_code(const Epilogue& epilogue, Type type_c, Type type_d) {
  std::string code =
      "// " + print_epilogue(epilogue) +
      "\n"
      "struct GeneratedEpilogue {\n"
      "  using Output = " +
      std::string(device_type_name(type_d)) +
      ";\n"
      "  static constexpr bool kThroughShared = " +
      (gains_from_shared_memory(epilogue) ? "true" : "false") +
      ";\n"
      "  template <class T>\n"
      "  static __device__ T apply(T accumulator, [[maybe_unused]] const KernelArguments& "
      "arguments,\n"
      "                            [[maybe_unused]] int64 b, [[maybe_unused]] int64 m,\n"
      "                            [[maybe_unused]] int64 n) {\n";
  for (int i = 0; i < epilogue.num_operands; ++i) {
    const EpilogueOperand& operand = epilogue.operands[i];
    if (!reads_operand(epilogue, i)) continue;
    const std::string matrix = "arguments.operands[" + std::to_string(i) + "]";
    code += "    const T x" + std::to_string(i) + " = " +
            print_load(matrix, operand.type, operand.index_b, operand.index_m, operand.index_n) +
            ";  // " + std::string(operand.name_view()) + "\n";
  }
  if (epilogue.reads_c()) {
    code += "    const T c = " + print_load("arguments.c", type_c, true, true, true) + ";\n";
  }
  return code + "    return " + print_expression(epilogue) + ";\n  }\n};\n";
}

}  // namespace tilewise
