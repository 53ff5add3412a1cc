#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "epilogue/functions.h"
#include "tilewise/epilogue.h"

namespace tilewise {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

Epilogue parsed(std::string_view text) {
  const Result<Epilogue> result = parse_epilogue(text);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().message);
  return result.value_or(Epilogue{});
}

std::string message(std::string_view text) {
  const Result<Epilogue> result = parse_epilogue(text);
  EXPECT_FALSE(result) << text;
  return result ? "" : result.error().message;
}

std::string canonical(std::string_view text) { return print_epilogue(parsed(text)); }

TEST(ParseEpilogue, TheAccumulatorIsTheIdentity) {
  EXPECT_EQ(parsed("acc"), Epilogue{});
  EXPECT_EQ(parsed(" ( acc ) "), Epilogue{});
  EXPECT_TRUE(parsed("acc").is_identity());
  EXPECT_FALSE(parsed("-acc").is_identity());
}

TEST(ParseEpilogue, PrintsTheCanonicalText) {
  EXPECT_EQ(canonical("gelu(acc+bias[n])+residual[m,n]"), "gelu(acc + bias[n]) + residual[m,n]");
  EXPECT_EQ(canonical("2*acc+.5*c[ m , n ]"), "2 * acc + 0.5 * c[m,n]");
  EXPECT_EQ(canonical("acc-(scale-1)"), "acc - (scale - 1)");
  EXPECT_EQ(canonical("(acc-scale)-1"), "acc - scale - 1");
  EXPECT_EQ(canonical("acc/(scale*2)"), "acc / (scale * 2)");
  EXPECT_EQ(canonical("-(acc+1)"), "-(acc + 1)");
  EXPECT_EQ(canonical("--acc"), "--acc");
  EXPECT_EQ(canonical("-1*acc"), "-1 * acc");
  EXPECT_EQ(canonical("-(1)*acc"), "-(1) * acc");
  EXPECT_EQ(canonical("-(-1)*acc"), "--1 * acc");
  EXPECT_EQ(canonical("acc*-1e-3"), "acc * -0.001");
  EXPECT_EQ(canonical("clamp(acc, 0, 6)"), "clamp(acc, 0, 6)");
  EXPECT_EQ(canonical("min(max(acc, 0), 6)"), "clamp(acc, 0, 6)");
  EXPECT_EQ(canonical("min(6, max(acc, 0))"), "min(6, max(acc, 0))");
  EXPECT_EQ(canonical("x[b,m,n]*y[b]*z[b,m]*w[b,n]*acc*v[m]*u"),
            "x[b,m,n] * y[b] * z[b,m] * w[b,n] * acc * v[m] * u");
}

TEST(ParseEpilogue, EveryFunctionRoundTrips) {
  for (const EpilogueFunction& function : epilogue_functions()) {
    std::string text = std::string(function.name) + "(acc";
    for (int i = 1; i < function.num_arguments; ++i) text += ", bias[n]";
    const Epilogue epilogue = parsed(text + ")");
    EXPECT_EQ(parsed(print_epilogue(epilogue)), epilogue) << text;
  }
}

TEST(ParseEpilogue, NamesOperandsInTheOrderOfTheText) {
  Epilogue epilogue = parsed("gelu(acc * scale + bias[n]) + x[b,m,n] + bias[n] + column[m]");
  ASSERT_EQ(epilogue.num_operands, 4);
  EXPECT_EQ(find_operand(epilogue, "scale"), 0);
  EXPECT_EQ(find_operand(epilogue, "bias"), 1);
  EXPECT_EQ(find_operand(epilogue, "x"), 2);
  EXPECT_EQ(find_operand(epilogue, "column"), 3);
  EXPECT_EQ(find_operand(epilogue, "colum"), -1);
  set_contiguous_operands(epilogue, 3, 5);
  EXPECT_EQ(epilogue.operands[0].strides, (Strides{0, 0, 0}));
  EXPECT_EQ(epilogue.operands[1].strides, (Strides{0, 1, 0}));
  EXPECT_EQ(epilogue.operands[2].strides, (Strides{5, 1, 15}));
  EXPECT_EQ(epilogue.operands[3].strides, (Strides{1, 0, 0}));
}

TEST(ParseEpilogue, KnowsWhetherCIsRead) {
  EXPECT_TRUE(parsed("acc + 2 * c[m,n]").reads_c());
  EXPECT_FALSE(parsed("acc + 2 * residual[m,n]").reads_c());
}

TEST(ParseEpilogue, KeepsTheBitsOfNumbers) {
  for (const char* text : {"0.1", "1e-320", "1.7976931348623157e308", "-0", "3", ".25", "7.e2"}) {
    const Epilogue epilogue = parsed(text);
    EXPECT_EQ(__builtin_bit_cast(std::uint64_t, epilogue.constants[0]),
              __builtin_bit_cast(std::uint64_t, std::strtod(text, nullptr)));
    EXPECT_EQ(parsed(print_epilogue(epilogue)), epilogue);
  }
}

TEST(ParseEpilogue, ErrorsShowThePlaceAndTheWayOut) {
  EXPECT_EQ(message("gelu(acc + * 2)"),
            "epilogue: \"*\" found where a value is expected at position 12\n"
            "    gelu(acc + * 2)\n"
            "               ^");
  EXPECT_THAT(message("acc + gleu(acc)"),
              AllOf(HasSubstr("unknown function \"gleu\""), HasSubstr("did you mean gelu?"),
                    HasSubstr("clamp"), EndsWith("\n          ^")));
  EXPECT_THAT(message("softmax(acc)"),
              AllOf(HasSubstr("functions: relu"), testing::Not(HasSubstr("did you mean"))));
  EXPECT_THAT(message("acc + bias[k]"),
              AllOf(HasSubstr("wrong index \"k\""), HasSubstr("x[m,n]"), HasSubstr("position 12")));
  EXPECT_THAT(message("acc + bias[n,m]"), HasSubstr("out of order"));
  EXPECT_THAT(message("acc + bias[n,n]"), HasSubstr("out of order"));
  EXPECT_THAT(message("acc + bias[]"), HasSubstr("an index is missing"));
  EXPECT_THAT(message("acc + bias[n"), HasSubstr("the text ends where \"]\" is expected"));
  EXPECT_THAT(message("acc + bias[n] + bias[m]"), HasSubstr("other indices before"));
  EXPECT_THAT(message("acc + c"), HasSubstr("c[m,n]"));
  EXPECT_THAT(message("acc[m,n]"), HasSubstr("acc takes no index"));
  EXPECT_THAT(message("acc + relu"), HasSubstr("write relu(x)"));
  EXPECT_THAT(message("min(acc)"), HasSubstr("write min(x, y)"));
  EXPECT_THAT(message("relu(acc, 1)"), HasSubstr("write relu(x)"));
  EXPECT_THAT(message("clamp(acc, 1)"), HasSubstr("write clamp(x, lo, hi)"));
  EXPECT_THAT(message("acc + a[m,n]"), HasSubstr("\"a\" is reserved"));
  EXPECT_THAT(message("acc + inf"), HasSubstr("reserved"));
  EXPECT_THAT(message(""), HasSubstr("write acc"));
  EXPECT_THAT(message("acc)"), HasSubstr("\")\" without its \"(\""));
  EXPECT_THAT(message("(acc"), HasSubstr("the text ends"));
  EXPECT_THAT(message("acc acc"), HasSubstr("an operator"));
  EXPECT_THAT(message("1e999 * acc"), HasSubstr("float64 cannot hold"));
  EXPECT_THAT(message("2x * acc"), HasSubstr("after the number"));
  EXPECT_THAT(message("0x10 * acc"), HasSubstr("after the number"));
  EXPECT_THAT(message("1.2.3"), HasSubstr("after the number"));
  EXPECT_THAT(message("."), HasSubstr("a number"));
  EXPECT_THAT(message("acc + \xc3\xa9"), HasSubstr("\"?\" found"));
  EXPECT_THAT(message(std::string("acc\0+ 1", 7)), HasSubstr("an operator"));
  EXPECT_THAT(message("acc * a_name_of_24_letters_xyz"), HasSubstr("more than 23 letters"));
}

TEST(ParseEpilogue, LimitsAreErrorsThatSayThem) {
  EXPECT_THAT(message(std::string(100000, '(') + "acc"), HasSubstr("64 levels of nesting"));
  EXPECT_THAT(message(std::string(100000, '-') + "acc"), HasSubstr("64 levels of nesting"));
  std::string sum = "acc";
  for (int i = 0; i < 47; ++i) sum += " + acc";
  EXPECT_TRUE(parse_epilogue(sum));
  EXPECT_THAT(message(sum + " + acc"), HasSubstr("more than 96"));
  std::string right;
  for (int i = 0; i < 15; ++i) right += "acc + (";
  EXPECT_TRUE(parse_epilogue(right + "acc" + std::string(15, ')')));
  EXPECT_THAT(message(right + "acc + (acc" + std::string(16, ')')), HasSubstr("more than 16"));
  std::string operands = "acc", constants = "acc";
  for (int i = 0; i < 9; ++i) operands += " + x" + std::to_string(i);
  EXPECT_THAT(message(operands), HasSubstr("more than 8 operands"));
  for (int i = 0; i < 25; ++i) constants += " + " + std::to_string(i);
  EXPECT_THAT(message(constants), HasSubstr("more than 24 different constants"));
}

// What is printed must parse: it may not nest deeper than the text that it came from.
TEST(ParseEpilogue, TheDeepestTextsRoundTrip) {
  const std::string negations(63, '-');
  std::string clamps = "acc", calls;
  for (int i = 0; i < 23; ++i) clamps = "clamp(" + clamps + ", -1, 1)";
  for (int i = 0; i < 63; ++i) calls += "exp(";
  for (const std::string& text :
       {negations + "acc", negations + "-2", clamps, calls + "acc" + std::string(63, ')'),
        std::string(63, '(') + "acc" + std::string(63, ')')}) {
    const Epilogue epilogue = parsed(text);
    EXPECT_EQ(parsed(print_epilogue(epilogue)), epilogue) << text;
  }
}

TEST(ParseEpilogue, AnEndlessLineIsCutAroundTheCaret) {
  const std::string text = message(std::string(5000, ' ') + "acc ! " + std::string(5000, ' '));
  EXPECT_LT(text.size(), 400u);
  const std::size_t caret = text.rfind('\n'), line = text.rfind('\n', caret - 1);
  EXPECT_EQ(text[line + (text.find('^', caret) - caret)], '!');
}

// Random expressions, as trees written with redundant parentheses: print and parse agree.
std::string random_text(std::mt19937& random, int depth) {
  const auto pick = [&](unsigned n) { return random() % n; };
  if (depth == 0) {
    const char* leaves[] = {"acc", "bias[n]", "c[m,n]", "0.5", "3e-7", "x[b,m,n]", "s"};
    return leaves[pick(7)];
  }
  const std::string x = random_text(random, depth - 1), y = random_text(random, depth - 1);
  switch (pick(6)) {
    case 0:
      return "-(" + x + ")";
    case 1:
      return "silu(" + x + ")";
    case 2:
      return "max(" + x + "," + y + ")";
    default:
      return "(" + x + ")" + "+-*/"[pick(4)] + "(" + y + ")";
  }
}

TEST(ParseEpilogue, RandomExpressionsRoundTrip) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, static_cast<int>(random() % 6));
    const Epilogue epilogue = parsed(text);
    EXPECT_TRUE(validate(epilogue));
    const std::string printed = print_epilogue(epilogue);
    EXPECT_EQ(parsed(printed), epilogue) << text << " -> " << printed;
  }
}

TEST(ValidateEpilogue, RefusesWhatIsNoExpression) {
  EXPECT_TRUE(validate(Epilogue{}));
  Epilogue epilogue;
  epilogue.num_instructions = 0;
  EXPECT_FALSE(validate(epilogue));
  epilogue.num_instructions = 200;
  EXPECT_FALSE(validate(epilogue));
  epilogue.num_instructions = 1;
  for (EpilogueOp op : {EpilogueOp::add, EpilogueOp::relu, EpilogueOp::operand,
                        EpilogueOp::constant, static_cast<EpilogueOp>(77)}) {
    epilogue.instructions[0].op = op;
    EXPECT_FALSE(validate(epilogue)) << static_cast<int>(op);
    EXPECT_EQ(print_epilogue(epilogue), "(invalid)");
  }
  epilogue.instructions[0].op = EpilogueOp::acc;
  epilogue.num_instructions = 2;
  EXPECT_FALSE(validate(epilogue));
}

}  // namespace
}  // namespace tilewise
