// The epilogue: what is done to each accumulator before it is stored, as an expression.
//
//     gelu(acc + bias[n]) + residual[m,n]
//
// An Epilogue is a value: trivially copyable, comparable and hashable, with no pointer in it, so
// that it can be part of a Problem (docs/decisions/0002-epilogue-is-a-value.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tilewise/result.h"
#include "tilewise/types.h"

namespace tilewise {

// Distance in elements between neighbours along a dimension. batch 0: one matrix shared by all.
struct Strides {
  std::int64_t row = 0;
  std::int64_t column = 1;
  std::int64_t batch = 0;
  bool operator==(const Strides&) const = default;
};

// One named operand of an expression. index_*: which indices it is written with; `scale` alone is a
// scalar, `bias[n]` a vector along N, `residual[m,n]` a matrix, `x[b,m,n]` one matrix a batch.
// Strides of absent indices are 0. Type and strides are filled in by the caller after parsing
// (parsing leaves f32, and contiguous() sets the strides of a dense operand).
struct EpilogueOperand {
  static constexpr int kNameBytes = 24;  // terminating zero included
  std::array<char, kNameBytes> name{};
  bool index_b = false;
  bool index_m = false;
  bool index_n = false;
  Type type = Type::f32;
  Strides strides{0, 0, 0};

  [[nodiscard]] std::string_view name_view() const { return std::string_view(name.data()); }
  bool operator==(const EpilogueOperand&) const = default;
};

enum class EpilogueOp : std::uint8_t {
  acc,       // push the accumulator
  constant,  // push constants[argument]
  operand,   // push operands[argument] at this element
  source,    // push c[m,n]
  add,
  subtract,
  multiply,
  divide,
  negate,
  minimum,
  maximum,
  relu,
  gelu_erf,
  gelu_tanh,
  silu,
  sigmoid,
  tanh,
  exp,
  abs,
};

// The expression in postfix order. Default-constructed: the accumulator itself, `acc`.
struct Epilogue {
  static constexpr int kMaxInstructions = 96;
  static constexpr int kMaxConstants = 24;
  static constexpr int kMaxOperands = 8;
  static constexpr int kMaxDepth = 16;  // values alive at once

  struct Instruction {
    EpilogueOp op = EpilogueOp::acc;
    std::uint8_t argument = 0;
    bool operator==(const Instruction&) const = default;
  };

  std::array<Instruction, kMaxInstructions> instructions{};
  std::array<double, kMaxConstants> constants{};
  std::array<EpilogueOperand, kMaxOperands> operands{};
  std::uint8_t num_instructions = 1;
  std::uint8_t num_constants = 0;
  std::uint8_t num_operands = 0;

  [[nodiscard]] bool is_identity() const {
    return num_instructions == 1 && instructions[0].op == EpilogueOp::acc;
  }
  [[nodiscard]] bool reads_c() const;
  bool operator==(const Epilogue&) const = default;
};

// Parses: numbers, + - * /, unary minus, parentheses, acc, c[m,n], named operands, and the
// functions relu gelu gelu_tanh silu sigmoid tanh exp abs min max clamp. Errors: the message shows
// the position with a caret, and says what would be valid. Cost: one pass over the text.
[[nodiscard]] Result<Epilogue> parse_epilogue(std::string_view text);

// Whether the instructions are a well-formed expression, constants are finite, and strides of
// absent indices are 0 (what parse_epilogue returns always passes; a hand-made one may not). Errors
// name the instruction or the operand.
[[nodiscard]] Result<void> validate(const Epilogue& epilogue);

// The canonical text; parse_epilogue(print_epilogue(e)) equals e up to types and strides.
[[nodiscard]] std::string print_epilogue(const Epilogue& epilogue);

// Position of an operand, or -1.
[[nodiscard]] int find_operand(const Epilogue& epilogue, std::string_view name);

// Sets the strides of every operand to those of a dense row-major array of its indices.
void set_contiguous_operands(Epilogue& epilogue, std::int64_t m, std::int64_t n);

}  // namespace tilewise
