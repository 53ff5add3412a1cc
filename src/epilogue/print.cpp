#include <charconv>
#include <string>
#include <vector>

#include "epilogue/functions.h"
#include "tilewise/epilogue.h"

namespace tilewise {
namespace {

// How tightly a text binds: what surrounds it decides whether it needs parentheses.
enum class Binding { sum, product, sign, value };

struct Piece {
  std::string text;
  Binding binding = Binding::value;
  bool is_unsigned = false;     // a constant without a sign
  std::string maximum_of = {};  // "x, y" where text is max(x, y)
};

// The shortest text that reads back as the same double.
std::string print_number(double value) {
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc() ? std::string(buffer, end) : std::string("0");
}

std::string print_operand(const EpilogueOperand& operand) {
  std::string indices;
  const auto add = [&](bool present, char index) {
    if (!present) return;
    if (!indices.empty()) indices += ',';
    indices += index;
  };
  add(operand.index_b, 'b');
  add(operand.index_m, 'm');
  add(operand.index_n, 'n');
  const std::string name(operand.name_view());
  return indices.empty() ? name : name + "[" + indices + "]";
}

std::string grouped(const Piece& piece, bool needs_parentheses) {
  return needs_parentheses ? "(" + piece.text + ")" : piece.text;
}

Piece print_binary(const Piece& x, const Piece& y, std::string_view sign, Binding binding) {
  return {grouped(x, x.binding < binding) + " " + std::string(sign) + " " +
              grouped(y, y.binding <= binding),
          binding};
}

Piece print_operation(EpilogueOp op, const Piece& x, const Piece& y) {
  switch (op) {
    case EpilogueOp::add:
      return print_binary(x, y, "+", Binding::sum);
    case EpilogueOp::subtract:
      return print_binary(x, y, "-", Binding::sum);
    case EpilogueOp::multiply:
      return print_binary(x, y, "*", Binding::product);
    case EpilogueOp::divide:
      return print_binary(x, y, "/", Binding::product);
    case EpilogueOp::negate:
      // "-1" is a constant, so the negation of 1 keeps parentheses.
      return {"-" + grouped(x, x.binding < Binding::sign || x.is_unsigned), Binding::sign};
    default:
      break;
  }
  // Printed as it may have been written: the text never nests deeper than a text that parses.
  if (op == EpilogueOp::minimum && !x.maximum_of.empty()) {
    return {"clamp(" + x.maximum_of + ", " + y.text + ")"};
  }
  const std::string name(find_function(op)->name);
  const std::string arguments = x.text + (num_inputs(op) == 2 ? ", " + y.text : "");
  Piece call{name + "(" + arguments + ")"};
  if (op == EpilogueOp::maximum) call.maximum_of = arguments;
  return call;
}

}  // namespace

std::string print_epilogue(const Epilogue& epilogue) {
  if (!validate(epilogue)) return "(invalid)";
  std::vector<Piece> stack;
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    if (op == EpilogueOp::acc) {
      stack.push_back({"acc"});
    } else if (op == EpilogueOp::source) {
      stack.push_back({"c[m,n]"});
    } else if (op == EpilogueOp::operand) {
      stack.push_back({print_operand(epilogue.operands[argument])});
    } else if (op == EpilogueOp::constant) {
      std::string text = print_number(epilogue.constants[argument]);
      const Binding binding = text.front() == '-' ? Binding::sign : Binding::value;
      stack.push_back({std::move(text), binding, binding == Binding::value});
    } else {
      Piece y;
      if (num_inputs(op) == 2) {
        y = std::move(stack.back());
        stack.pop_back();
      }
      stack.back() = print_operation(op, stack.back(), y);
    }
  }
  return stack.back().text;
}

}  // namespace tilewise
