// Recursive descent, emitting postfix as it goes:
//   sum     = product {("+" | "-") product}
//   product = factor {("*" | "/") factor}
//   factor  = "-" factor | number | "(" sum ")" | acc | c[m,n] | name | name[indices] |
//   name(arguments)
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>

#include "epilogue/functions.h"
#include "epilogue/syntax_error.h"
#include "tilewise/epilogue.h"

namespace tilewise {
namespace {

constexpr int kMaxNesting = 64;  // of parentheses, calls and signs; bounds the recursion

bool is_digit(char ch) { return ch >= '0' && ch <= '9'; }
bool is_letter(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

// One past the end of the number that starts at `first`: digits with a point, and an exponent.
std::size_t number_end(std::string_view text, std::size_t first) {
  std::size_t i = first;
  const auto skip_digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i > start;
  };
  bool any = skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    any = skip_digits() || any;
  }
  if (!any) return first;
  const std::size_t mantissa_end = i;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (!skip_digits()) i = mantissa_end;
  }
  return i;
}

// False if it does not fit float64.
bool read_number(std::string_view text, double& value) {
#ifdef __cpp_lib_to_chars
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
#else  // libc++ before 20; WASI has only the "C" locale
  value = std::strtod(std::string(text).c_str(), nullptr);
  return value - value == 0;
#endif
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { result_.num_instructions = 0; }

  Result<Epilogue> parse() {
    if (peek() == '\0') {
      fail(position_, "an empty expression; write acc for the product itself,");
    } else if (sum()) {
      if (peek() == ')')
        fail(position_, "\")\" without its \"(\"");
      else if (peek() != '\0' || position_ < text_.size())
        unexpected("an operator + - * /");
    }
    if (failed_) return std::unexpected(std::move(error_));
    return result_;
  }

 private:
  // Every rule returns false once an error is recorded.
  bool sum() {
    if (!product()) return false;
    for (;;) {
      const std::size_t at = position_;
      if (accept('+')) {
        if (!product() || !emit(at, EpilogueOp::add)) return false;
      } else if (accept('-')) {
        if (!product() || !emit(at, EpilogueOp::subtract)) return false;
      } else {
        return true;
      }
    }
  }

  bool product() {
    if (!factor()) return false;
    for (;;) {
      const std::size_t at = position_;
      if (accept('*')) {
        if (!factor() || !emit(at, EpilogueOp::multiply)) return false;
      } else if (accept('/')) {
        if (!factor() || !emit(at, EpilogueOp::divide)) return false;
      } else {
        return true;
      }
    }
  }

  bool factor() {
    const char ch = peek();
    const std::size_t at = position_;
    if (nesting_ == kMaxNesting) {
      return fail(at, "more than " + std::to_string(kMaxNesting) + " levels of nesting");
    }
    ++nesting_;
    const bool done = ch == '-'                   ? negated()
                      : ch == '('                 ? parenthesised()
                      : is_digit(ch) || ch == '.' ? number(1)
                      : is_letter(ch)             ? named()
                                                  : unexpected("a value");
    --nesting_;
    return done;
  }

  // A sign directly before a number is part of it.
  bool negated() {
    const std::size_t at = position_;
    accept('-');
    const char next = peek();
    if (is_digit(next) || next == '.') return number(-1);
    return factor() && emit(at, EpilogueOp::negate);
  }

  bool parenthesised() {
    accept('(');
    return sum() && expect(')');
  }

  bool number(double sign) {
    const std::size_t at = position_;
    const std::size_t end = number_end(text_, at);
    if (end == at) return unexpected("a number");
    double value = 0;
    if (!read_number(text_.substr(at, end - at), value)) {
      return fail(at, "a number that float64 cannot hold");
    }
    position_ = end;
    if (end < text_.size() &&
        (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) {
      return unexpected("an operator after the number");
    }
    return constant(at, sign * value);
  }

  bool constant(std::size_t at, double value) {
    const auto bits = [](double x) { return __builtin_bit_cast(std::uint64_t, x); };
    int index = 0;
    while (index < result_.num_constants && bits(result_.constants[index]) != bits(value)) ++index;
    if (index == Epilogue::kMaxConstants) {
      return fail(at,
                  "more than " + std::to_string(Epilogue::kMaxConstants) + " different constants");
    }
    if (index == result_.num_constants) result_.constants[result_.num_constants++] = value;
    return emit(at, EpilogueOp::constant, index);
  }

  std::string_view word() {
    const std::size_t first = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]))) {
      ++position_;
    }
    return text_.substr(first, position_ - first);
  }

  bool named() {
    const std::size_t at = position_;
    const std::string_view name = word();
    const char next = peek();
    if (next == '(') return call(at, name);
    if (name == "acc") {
      return next == '[' ? fail(at, "acc takes no index: it is this element's own product")
                         : emit(at, EpilogueOp::acc);
    }
    if (name == "c") return source(at);
    if (const EpilogueFunction* function = find_function(name)) {
      return fail(at, shown(name) + " is a function; write " + signature(*function));
    }
    if (is_reserved(name)) {
      return fail(at,
                  "\"" + shown(name) +
                      "\" is reserved (so are a, b, c, d, m, n, k, inf, nan and the functions); "
                      "choose another name for the operand");
    }
    return operand(at, name);
  }

  static std::string signature(const EpilogueFunction& function) {
    constexpr std::string_view kArguments[] = {"", "(x)", "(x, y)", "(x, lo, hi)"};
    return std::string(function.name) + std::string(kArguments[function.num_arguments]);
  }

  bool call(std::size_t at, std::string_view name) {
    const EpilogueFunction* function = find_function(name);
    if (function == nullptr) {
      const std::string_view nearest = nearest_function(name);
      return fail(at, "unknown function \"" + shown(name) + "\"" +
                          (nearest.empty() ? "" : ", did you mean " + std::string(nearest) + "?") +
                          " (functions: " + function_names() + ")");
    }
    accept('(');
    const bool is_clamp = function->num_arguments == 3;
    for (int i = 0; i < function->num_arguments; ++i) {
      if (i > 0 && !accept(',')) {
        return peek() == ')' ? fail(position_, "too few arguments; write " + signature(*function))
                             : unexpected("\",\"");
      }
      if (!sum()) return false;
      if (is_clamp && i == 1 && !emit(at, EpilogueOp::maximum)) return false;
    }
    if (peek() == ',') return fail(position_, "too many arguments; write " + signature(*function));
    return expect(')') && emit(at, function->op);
  }

  struct Indices {
    bool b = false, m = false, n = false;
  };

  // "[" index {"," index} "]" where the indices are a selection of b, m, n in this order.
  bool indices(Indices& found) {
    constexpr std::string_view kRule =
        "indices are b, m, n in this order, as in x[n], x[m], x[m,n], x[b,m,n]";
    if (!accept('[')) return true;
    int last = -1;
    do {
      const char ch = peek();
      const std::size_t at = position_;
      const std::string_view name = word();
      const std::size_t order = name.size() == 1 ? std::string_view("bmn").find(ch) : 3;
      if (order >= 3) {
        const std::string what = name.empty() ? std::string("an index is missing")
                                              : "wrong index \"" + shown(name) + "\"";
        return fail(at, what + ": " + std::string(kRule));
      }
      if (static_cast<int>(order) <= last) {
        return fail(at, "index \"" + shown(name) + "\" out of order: " + std::string(kRule));
      }
      last = static_cast<int>(order);
      (order == 0 ? found.b : order == 1 ? found.m : found.n) = true;
    } while (accept(','));
    return expect(']');
  }

  bool source(std::size_t at) {
    Indices found;
    if (!indices(found)) return false;
    if (found.b || !found.m || !found.n) {
      return fail(at, "the matrix C is written c[m,n], in a batch too");
    }
    return emit(at, EpilogueOp::source);
  }

  bool operand(std::size_t at, std::string_view name) {
    if (name.size() >= EpilogueOperand::kNameBytes) {
      return fail(at, "the name \"" + shown(name) + "\" has more than " +
                          std::to_string(EpilogueOperand::kNameBytes - 1) + " letters");
    }
    EpilogueOperand fresh;
    name.copy(fresh.name.data(), name.size());
    Indices found;
    if (!indices(found)) return false;
    fresh.index_b = found.b;
    fresh.index_m = found.m;
    fresh.index_n = found.n;
    int index = find_operand(result_, name);
    if (index >= 0 && result_.operands[index] != fresh) {
      return fail(at, "\"" + shown(name) +
                          "\" was written with other indices before; one name, one operand,");
    }
    if (index < 0) {
      if (result_.num_operands == Epilogue::kMaxOperands) {
        return fail(at, "more than " + std::to_string(Epilogue::kMaxOperands) + " operands");
      }
      index = result_.num_operands++;
      result_.operands[index] = fresh;
    }
    return emit(at, EpilogueOp::operand, index);
  }

  bool emit(std::size_t at, EpilogueOp op, int argument = 0) {
    if (result_.num_instructions == Epilogue::kMaxInstructions) {
      return fail(at, "an expression of more than " + std::to_string(Epilogue::kMaxInstructions) +
                          " values and operations");
    }
    depth_ += 1 - num_inputs(op);
    if (depth_ > Epilogue::kMaxDepth) {
      return fail(at, "more than " + std::to_string(Epilogue::kMaxDepth) +
                          " values waiting for their operation; group to the left");
    }
    result_.instructions[result_.num_instructions++] = {op, static_cast<std::uint8_t>(argument)};
    return true;
  }

  // The next character that is no space, '\0' at the end.
  char peek() {
    while (position_ < text_.size() && std::string_view(" \t\r\n").contains(text_[position_])) {
      ++position_;
    }
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char ch) {
    if (peek() != ch) return false;
    ++position_;
    return true;
  }

  bool expect(char ch) { return accept(ch) || unexpected(std::string("\"") + ch + "\""); }

  bool unexpected(const std::string& wanted) {
    peek();
    const bool at_end = position_ >= text_.size();
    const std::string found =
        at_end ? "the text ends" : "\"" + shown(text_.substr(position_, 1)) + "\" found";
    return fail(position_, found + " where " + wanted + " is expected");
  }

  bool fail(std::size_t at, std::string_view what) {
    if (!failed_) error_ = syntax_error(text_, at, what);
    failed_ = true;
    return false;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  int depth_ = 0;  // values alive after the last instruction
  bool failed_ = false;
  Error error_;
  Epilogue result_;
};

}  // namespace

Result<Epilogue> parse_epilogue(std::string_view text) { return Parser(text).parse(); }

}  // namespace tilewise
