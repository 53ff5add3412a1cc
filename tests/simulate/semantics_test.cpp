// The rules that every path keeps, on the simulator: see tests/cpu/semantics_test.cpp. It has a
// result of its own and reads its inputs through const views, so that no overlap can be asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tilewise/simulate.h"

namespace tilewise {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Schedule two_levels() {
  Schedule s;
  s.tiles = {{Level::block, 4, 4, 3, 1, 1}, {Level::thread, 2, 3, 1, 1, 1}};
  return s;
}

void set_epilogue(Problem& p, std::string_view text) {
  p.epilogue = parse_epilogue(text).value();
  set_contiguous_operands(p.epilogue, p.m, p.n);
}

Simulation simulated(const Problem& p, std::span<const double> a, std::span<const double> b,
                     std::span<const double> c = {},
                     std::span<const std::span<const double>> operands = {}) {
  Result<Simulation> sim = simulate(p, two_levels(), a, b, c, operands);
  EXPECT_TRUE(sim) << sim.error().message;
  return sim ? *sim : Simulation();
}

TEST(SimulateSemantics, EmptyOutputsReadAndWriteNothing) {
  for (const auto& [m, n, batch] : {std::tuple{0, 5, 1}, {5, 0, 1}, {0, 0, 1}, {5, 5, 0}}) {
    Problem p = make_problem(m, n, 7);
    p.batch = batch;
    p.d.batch = p.c.batch = 25;
    set_epilogue(p, "acc + c[m,n] + bias[n]");
    const std::span<const double> none[] = {{}};
    const Simulation sim = simulated(p, {}, {}, {}, none);
    EXPECT_TRUE(sim.d.empty());
    EXPECT_EQ(sim.global_reads, 0u);
    EXPECT_EQ(sim.writes, 0u);
  }
}

TEST(SimulateSemantics, WithoutKTheEpilogueStillRuns) {
  Problem p = make_problem(3, 5, 0);
  set_epilogue(p, "acc + 2 * c[m,n] + bias[n]");
  const std::vector<double> c(15, 4.0), bias = {1, 2, 3, 4, 5};
  const std::span<const double> operands[] = {bias};
  const Simulation sim = simulated(p, {}, {}, c, operands);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(sim.d[i], 8 + bias[i % 5]);
  EXPECT_EQ(sim.global_reads, 0u);
  EXPECT_EQ(sim.writes, 15u);
}

TEST(SimulateSemantics, UnreadOperandsAreNeverTouched) {
  Problem p = make_problem(5, 7, 4);
  const std::vector<double> a(20, 1.0), b(28, 1.0), nan(35, kNan);
  for (const char* text : {"acc", "acc + 1"}) {
    set_epilogue(p, text);
    // Neither a NaN in C nor a C that is not there changes the result.
    for (const std::span<const double> c : {std::span<const double>(nan), {}}) {
      for (const double d : simulated(p, a, b, c).d) EXPECT_EQ(d, p.epilogue.is_identity() ? 4 : 5);
    }
  }
}

// The inputs of an in-place product stay as they are; the result is what in place would give.
TEST(SimulateSemantics, CAsTheAccumulatorsOldValue) {
  Problem p = make_problem(5, 7, 4);
  set_epilogue(p, "acc + 2 * c[m,n]");
  const std::vector<double> a(20, 1.0), b(28, 1.0);
  std::vector<double> c(35);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<double>(i);
  const auto before = c;
  const Simulation sim = simulated(p, a, b, c);
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(sim.d[i], 4 + 2 * before[i]);
  EXPECT_EQ(c, before);
}

TEST(SimulateSemantics, AnyStrides) {
  Problem p = make_problem(5, 7, 4);
  p.a = {1, 9, 0};
  p.b = {23, 3, 0};
  p.c = {2, 11, 0};
  set_epilogue(p, "acc + c[m,n]");
  // What lies between the elements is no part of the product.
  std::vector<double> a(9 * 4, kNan), b(23 * 4, kNan), c(11 * 7, kNan);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 4; ++k) a[i + 9 * k] = static_cast<double>(i + k);
    for (std::size_t j = 0; j < 7; ++j) c[2 * i + 11 * j] = 100;
  }
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t j = 0; j < 7; ++j) b[23 * k + 3 * j] = static_cast<double>(j);
  }
  const Simulation sim = simulated(p, a, b, c);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 7; ++j) {
      EXPECT_EQ(sim.d[i * 7 + j], static_cast<double>((4 * i + 6) * j + 100));
    }
  }
}

TEST(SimulateSemantics, DenormalsAreKept) {
  const std::vector<double> a(20, 0x1p-149), b(28, 1.0);
  for (const double d : simulated(make_problem(5, 7, 4), a, b).d) EXPECT_EQ(d, 0x1p-147);
  const std::vector<double> tiny(20, 0x1p-1074);
  for (const double d : simulated(make_problem(5, 7, 4, Type::f64), tiny, b).d) {
    EXPECT_EQ(d, 0x1p-1072);
  }
}

TEST(SimulateSemantics, InfinityAndNanStayInTheirRowsAndColumns) {
  for (const double special : {kInfinity, -kInfinity, kNan}) {
    std::vector<double> a(20, 1.0), b(28, 1.0);
    a[4 * 4 + 3] = special;  // the last row
    b[2 * 7 + 6] = special;  // the last column
    b[3 * 7 + 1] = 0;        // meets the row: inf * 0
    const Simulation sim = simulated(make_problem(5, 7, 4), a, b);
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 7; ++j) {
        const double got = sim.d[i * 7 + j];
        if (i != 4 && j != 6) {
          EXPECT_TRUE(std::isfinite(got)) << i << "," << j;
        } else if (std::isnan(special) || (i == 4 && j == 1)) {
          EXPECT_TRUE(std::isnan(got)) << i << "," << j;
        } else {
          EXPECT_EQ(got, special) << i << "," << j;
        }
      }
    }
  }
}

// Sums and epilogue: float32 for 32 bits and fewer, double for f64.
TEST(SimulateSemantics, SumsAreFloat32OrWider) {
  const std::vector<double> a = {256.0, 0x1p-8}, b = {1.0, 1.0};
  for (const Type type : {Type::bf16, Type::f16, Type::f32}) {
    Problem p = make_problem(1, 1, 2, type);
    p.type_d = Type::f32;
    EXPECT_EQ(simulated(p, a, b).d[0], 256 + 0x1p-8) << to_string(type);
  }
  Problem p = make_problem(1, 1, 2, Type::f64);
  set_epilogue(p, "acc + 0.1");
  EXPECT_EQ(simulated(p, a, b).d[0], 256 + 0x1p-8 + 0.1);
}

TEST(SimulateSemantics, SameBitsBetweenRuns) {
  std::vector<double> a(20), b(28);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<double>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
  Problem p = make_problem(5, 7, 4);
  set_epilogue(p, "gelu(acc)");
  EXPECT_EQ(simulated(p, a, b).d, simulated(p, a, b).d);
}

TEST(SimulateSemantics, InvalidRequestsAreErrorsThatNameTheArgument) {
  const std::vector<double> x(100, 1.0);
  Problem negative = make_problem(5, -1, 4);
  Problem short_stride = make_problem(5, 7, 4);
  short_stride.b.row = 6;
  Problem with_c = make_problem(5, 7, 4);
  set_epilogue(with_c, "acc + c[m,n]");
  Problem with_bias = make_problem(5, 7, 4);
  set_epilogue(with_bias, "acc + bias[n]");
  const std::vector<double> six(6);
  const std::span<const double> short_bias[] = {six};
  const auto message = [&](const Problem& p, std::span<const std::span<const double>> operands) {
    const Result<Simulation> sim = simulate(p, two_levels(), x, x, {}, operands);
    return sim ? std::string() : sim.error().message;
  };
  EXPECT_NE(message(negative, {}).find("n is -1"), std::string::npos);
  EXPECT_NE(message(short_stride, {}).find("strides of B"), std::string::npos);
  EXPECT_NE(message(with_c, {}).find("C has 0 elements"), std::string::npos);
  EXPECT_NE(message(with_bias, {}).find("1 operands; 0 are given"), std::string::npos);
  EXPECT_NE(message(with_bias, short_bias).find("operand bias has 6 elements"), std::string::npos);
}

}  // namespace
}  // namespace tilewise
