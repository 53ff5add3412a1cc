#include "epilogue/device_code.h"

#include <algorithm>
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

bool is_approximated(EpilogueOp op) {
  return op == EpilogueOp::gelu_erf || op == EpilogueOp::gelu_tanh || op == EpilogueOp::silu ||
         op == EpilogueOp::sigmoid;
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

// One matrix that the expression reads, as the kernel's arguments hold it.
struct Source {
  int operand = -1;      // its number; -1: C
  std::string variable;  // "x0", "c"
  std::string matrix;    // "arguments.operands[0]"
  std::string_view name;
  Type type = Type::f32;
  bool index_b = false, index_m = false, index_n = false;

  // "m * arguments.operands[0].row + n": elements from the first. dense: column is known to be 1.
  [[nodiscard]] std::string offset(bool dense) const {
    std::string text;
    const auto add = [&](bool present, const std::string& term) {
      if (!present) return;
      if (!text.empty()) text += " + ";
      text += term;
    };
    add(index_b, "b * " + matrix + ".batch");
    add(index_m, "m * " + matrix + ".row");
    add(index_n, dense ? "n" : "n * " + matrix + ".column");
    return text.empty() ? "0" : text;
  }
  // "epilogue::load<T, bf16>(arguments.operands[0], ...)"
  [[nodiscard]] std::string load(std::string_view to) const {
    return "epilogue::load<" + std::string(to) + ", " + std::string(device_type_name(type)) + ">(" +
           matrix + ", " + offset(false) + ")";
  }
};

// Functions of a result that is stored in 16 bits or fewer need not be exact to float32; those of
// one with 8 bits of precision or fewer, even less.
std::string function_name(EpilogueOp op, Type type_d) {
  if (!is_approximated(op) || size_bytes(type_d) > 2) {
    return "epilogue::" + std::string(device_function(op));
  }
  const bool is_short = op == EpilogueOp::gelu_erf && type_d != Type::f16;
  return "epilogue::narrow::" + std::string(device_function(op)) + (is_short ? "_short" : "");
}

std::string print_expression(const Epilogue& epilogue, Type type_d) {
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
        stack.back() = op == EpilogueOp::negate
                           ? "(-" + stack.back() + ")"
                           : function_name(op, type_d) + "(" + stack.back() + ")";
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

std::vector<Source> sources_of(const Epilogue& epilogue, Type type_c) {
  std::vector<Source> sources;
  for (int i = 0; i < epilogue.num_operands; ++i) {
    const EpilogueOperand& operand = epilogue.operands[i];
    if (!reads_operand(epilogue, i)) continue;
    const std::string index = std::to_string(i);
    sources.push_back({i, "x" + index, "arguments.operands[" + index + "]", operand.name_view(),
                       operand.type, operand.index_b, operand.index_m, operand.index_n});
  }
  if (epilogue.reads_c())
    sources.push_back({-1, "c", "arguments.c", "c", type_c, true, true, true});
  return sources;
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

// The matrix, if any, that a kernel may bring through shared memory in tiles like D's: the first
// that is indexed like D and as wide, where D has 16 bits. All else that is read is held in
// registers meanwhile, so it must be little.
const Source* find_staged(const std::vector<Source>& sources, Type type_d) {
  constexpr std::size_t kMaxSources = 2;
  if (size_bytes(type_d) != 2 || sources.size() > kMaxSources) return nullptr;
  const auto found = std::ranges::find_if(sources, [](const Source& source) {
    return source.index_m && source.index_n && size_bytes(source.type) == 2;
  });
  return found == sources.end() ? nullptr : &*found;
}

constexpr std::string_view kPlace =
    "[[maybe_unused]] const KernelArguments& arguments, [[maybe_unused]] int64 b,\n"
    "      [[maybe_unused]] int64 m, [[maybe_unused]] int64 n";

// Whether what is read besides `staged` is the same in every row, and at most a register for two
// columns: for the 256 columns of a row that a thread has a quarter of, 32 registers.
bool rest_of_row_fits(const std::vector<Source>& sources, const Source& staged) {
  return std::ranges::all_of(sources, [&](const Source& source) {
    return &source == &staged ||
           (!source.index_m && (!source.index_n || size_bytes(source.type) <= 2));
  });
}

// What a kernel calls to stage `staged`; rest: the initialisers of a Pair without it.
std::string print_staged(const Source& staged, bool rest_fits, const std::string& rest) {
  const std::string type(device_type_name(staged.type));
  return "  // " + std::string(staged.name) +
         ", in bulk\n"
         "  static constexpr bool kStaged = true;\n"
         "  static constexpr bool kRestOfRowFits = " +
         (rest_fits ? "true" : "false") +
         ";\n"
         "  static __device__ bool in_chunks(const KernelArguments& arguments) {\n"
         "    return epilogue::in_chunks<" +
         type + ">(" + staged.matrix +
         ", arguments.n);\n  }\n"
         "  static __device__ const MatrixArgument& staged(const KernelArguments& arguments) {\n"
         "    return " +
         staged.matrix +
         ";\n  }\n"
         "  static __device__ Pair load_rest(\n      " +
         std::string(kPlace) + ") {\n    return {" + rest +
         "};\n  }\n"
         "  static __device__ void set_staged(Pair& pair, unsigned bits) {\n    pair." +
         staged.variable + " = epilogue::two_from_bits<" + type + ">(bits);\n  }\n";
}

// The same for (m, n) and its right neighbour, in float: what they read is loaded apart from what
// is computed, so that a kernel can load early.
std::string print_pairs(const std::vector<Source>& sources, Type type_d) {
  const Source* staged = find_staged(sources, type_d);
  std::string members, paired, loads, rest, first, second;
  for (const Source& source : sources) {
    const std::string type(device_type_name(source.type));
    const std::string member = "pair." + source.variable;
    std::string load;
    if (source.index_n) {
      members += "    epilogue::Two<" + type + "> " + source.variable + ";";
      paired += " && epilogue::in_twos<" + type + ">(" + source.matrix + ")";
      load = "epilogue::load_two<" + type + ">(" + source.matrix + ", " + source.offset(true) + ")";
      first += ", " + member + ".first()";
      second += ", " + member + ".second()";
    } else {
      members += "    float " + source.variable + ";";
      load = source.load("float");
      first += ", " + member;
      second += ", " + member;
    }
    const char* separator = loads.empty() ? "" : ",\n            ";
    loads += separator + load;
    rest += separator + (&source == staged ? "{}" : load);
    members += "  // " + std::string(source.name) + "\n";
  }
  const std::string arguments(kPlace);
  return "  struct Pair {\n" + members +
         "  };\n"
         "  static __device__ bool in_pairs([[maybe_unused]] const KernelArguments& arguments) {\n"
         "    return true" +
         paired +
         ";\n  }\n"
         "  static __device__ Pair load_pair(\n      " +
         arguments + ") {\n    return {" + loads +
         "};\n  }\n"
         "  static __device__ void apply_pair(float& x, float& y, [[maybe_unused]] const Pair& "
         "pair) "
         "{\n"
         "    x = value<float>(x" +
         first + ");\n    y = value<float>(y" + second + ");\n  }\n" +
         (staged == nullptr ? "" : print_staged(*staged, rest_of_row_fits(sources, *staged), rest));
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

std::optional<StagedMatrix> staged_matrix(const Epilogue& epilogue, Type type_c, Type type_d) {
  const std::vector<Source> sources = sources_of(epilogue, type_c);
  const Source* staged = find_staged(sources, type_d);
  if (staged == nullptr) return std::nullopt;
  return StagedMatrix{staged->operand, staged->type};
}

std::string print_device_code(const Epilogue& epilogue, Type type_c, Type type_d) {
  const std::vector<Source> sources = sources_of(epilogue, type_c);
  std::string code = "// " + print_epilogue(epilogue) +
                     "\n"
                     "struct GeneratedEpilogue {\n"
                     "  using Output = " +
                     std::string(device_type_name(type_d)) +
                     ";\n"
                     "  static constexpr bool kThroughShared = " +
                     (gains_from_shared_memory(epilogue) ? "true" : "false") +
                     ";\n\n"
                     "  template <class T>\n"
                     "  static __device__ T value(T accumulator";
  for (const Source& source : sources) code += ", T " + source.variable;
  code += ") {\n    return " + print_expression(epilogue, type_d) +
          ";\n  }\n\n"
          "  template <class T>\n"
          "  static __device__ T apply(T accumulator, [[maybe_unused]] const KernelArguments& "
          "arguments,\n"
          "                            [[maybe_unused]] int64 b, [[maybe_unused]] int64 m,\n"
          "                            [[maybe_unused]] int64 n) {\n"
          "    return value<T>(accumulator";
  for (const Source& source : sources) code += ",\n                    " + source.load("T");
  return code + ");\n  }\n\n" + print_pairs(sources, type_d) + "};\n";
}

}  // namespace tilewise
