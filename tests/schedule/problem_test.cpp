#include "tilewise/problem.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace tilewise {
namespace {

static_assert(std::is_trivially_copyable_v<Problem>);

std::string message(const Problem& p) {
  const auto ok = validate(p);
  return ok ? std::string() : ok.error().message;
}

TEST(Problem, IsAKey) {
  std::unordered_set<Problem> set;
  set.insert(make_problem(1, 2, 3));
  set.insert(make_problem(1, 2, 3));
  set.insert(make_problem(1, 3, 2));
  set.insert(make_problem(1, 2, 3, Type::f64));
  EXPECT_EQ(set.size(), 3u);
}

TEST(Problem, DenseAndTransposedAndPaddedAreValid) {
  Problem p = make_problem(5, 6, 7);
  EXPECT_EQ(message(p), "");
  p.a = {1, 5, 0};
  EXPECT_EQ(message(p), "");
  p.a = {1, 9, 0};
  p.b = {100, 2, 0};
  EXPECT_EQ(message(p), "");
}

TEST(Problem, ShortStridesNameTheMatrix) {
  Problem p = make_problem(5, 6, 7);
  p.a.row = 6;
  EXPECT_NE(message(p).find("strides of A are (6, 1"), std::string::npos);
  p = make_problem(5, 6, 7);
  p.d.row = 5;
  EXPECT_NE(message(p).find("strides of D"), std::string::npos);
  p = make_problem(5, 6, 7);
  p.b.column = 0;
  EXPECT_NE(message(p).find("strides of B"), std::string::npos);
  p = make_problem(5, 6, 7);
  p.b.column = -1;
  EXPECT_NE(message(p).find("0 or more"), std::string::npos);
}

TEST(Problem, ChecksSizesBatchesAndReach) {
  Problem p = make_problem(5, 6, 7);
  p.m = -2;
  EXPECT_NE(message(p).find("m is -2"), std::string::npos);
  p = make_problem(5, 6, 7);
  p.batch = 2;
  EXPECT_NE(message(p).find("batch stride of D is 0"), std::string::npos);
  p = make_problem(std::int64_t{1} << 31, 1, std::int64_t{1} << 31);
  EXPECT_NE(message(p).find("2^63 - 1 bytes"), std::string::npos);
  p = make_problem(0, 6, 7);
  EXPECT_EQ(message(p), "");
}

TEST(Problem, RefusesABrokenEpilogue) {
  Problem p = make_problem(5, 6, 7);
  p.epilogue.instructions[0].op = EpilogueOp::add;  // nothing to add
  EXPECT_NE(message(p), "");
}

TEST(Problem, TypesOfOperandsAgreeOnDouble) {
  Problem p = make_problem(5, 6, 7);
  p.type_b = Type::f64;
  EXPECT_NE(message(p).find("f64 goes with f64 only"), std::string::npos);
}

}  // namespace
}  // namespace tilewise
