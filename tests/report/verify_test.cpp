#include "report/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "report/compensated_sum.h"
#include "report/normal_values.h"
#include "report/sample_positions.h"

namespace tilewise {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A product with its operands; D is computed in float32, in order of k.
struct Product {
  Problem problem;
  Schedule schedule;
  std::vector<float> a, b, d;

  Product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t tile = 0)
      : problem(make_problem(m, n, k)),
        a(static_cast<std::size_t>(m * k)),
        b(static_cast<std::size_t>(k * n)),
        d(static_cast<std::size_t>(m * n)) {
    schedule.device = Device::cpu;
    schedule.tiles = {{Level::nc, tile, tile, 0}};
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(normal_value(1, i));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(normal_value(2, i));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
        }
        at(i, j) = sum;
      }
    }
  }
  float& at(std::int64_t i, std::int64_t j) {
    return d[static_cast<std::size_t>(i * problem.n + j)];
  }

  Verification check(VerifyMode mode, int threads = 2, double product_s = 0) const {
    VerifyOptions options;
    options.mode = mode;
    options.threads = threads;
    options.product_s = product_s;
    return verify({.problem = problem,
                   .schedule = schedule,
                   .a = a.data(),
                   .b = b.data(),
                   .c = nullptr,
                   .d = d.data(),
                   .operands = {}},
                  options);
  }
};

TEST(CompensatedSum, KeepsWhatDoubleLoses) {
  const std::vector<double> x = {1e16, 1, -1e16, 1, 3, -2};
  const std::vector<double> y = {1, 1, 1, 1, 1, 1};
  CompensatedSum sum;
  accumulate(sum, x.data(), y.data(), 6, true);
  EXPECT_EQ(sum.value(), 3);
  EXPECT_EQ(sum.magnitude(), 2e16 + 7);
  // The products are not exact in double: (1 + 2^-30)^2 - 1 - 2^-29 = 2^-60.
  const double e = 1 + 0x1p-30;
  const std::vector<double> u = {e, 1, 0x1p-29}, v = {e, -1, -1};
  CompensatedSum inexact;
  accumulate(inexact, u.data(), v.data(), 3, false);
  EXPECT_EQ(inexact.value(), 0x1p-60);
}

TEST(CompensatedSum, DoesNotDependOnHowItIsCut) {
  std::vector<double> x(1000), y(1000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = normal_value(1, i);
    y[i] = normal_value(2, i);
  }
  CompensatedSum whole, parts;
  accumulate(whole, x.data(), y.data(), 1000, false);
  accumulate(parts, x.data(), y.data(), 512, false);
  accumulate(parts, x.data() + 512, y.data() + 512, 488, false);
  EXPECT_EQ(whole.value(), parts.value());
}

TEST(NormalValues, HaveMeanZeroAndVarianceOneAndNeverChange) {
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = normal_value(7, static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  const auto one = normal_matrix(30, 40, Type::f32, 5, 0, "A");
  const auto same = normal_matrix(40, 30, Type::f32, 5, 0, "A");
  const auto other = normal_matrix(30, 40, Type::f32, 5, 1, "B");
  ASSERT_TRUE(one && same && other);
  EXPECT_EQ(element(*one, 2, 3), element(*same, 2, 23));
  EXPECT_NE(element(*one, 2, 3), element(*other, 2, 3));
}

TEST(SamplePositions, HoldEveryPatchEveryCornerAndBothSidesOfEverySeam) {
  for (const SampleGrid grid : {SampleGrid{200, 300, 64, 96, 1}, SampleGrid{33, 31, 0, 0, 2},
                                SampleGrid{100, 100, 7, 5, 3}, SampleGrid{1, 1, 128, 128, 4}}) {
    std::set<std::pair<std::int64_t, std::int64_t>> patches;
    std::set<Position> all;
    for (std::int64_t column = 0; column < grid.n; column += kPatch) {
      const std::vector<Position> strip = sample_positions(grid, 0, column);
      for (const Position& p : strip) {
        EXPECT_TRUE(p.m >= 0 && p.m < grid.m && p.n >= column && p.n < column + kPatch &&
                    p.n < grid.n);
        patches.insert({p.m / kPatch, p.n / kPatch});
      }
      all.insert(strip.begin(), strip.end());
      EXPECT_TRUE(std::is_sorted(strip.begin(), strip.end()));
    }
    EXPECT_EQ(static_cast<std::int64_t>(patches.size()),
              ((grid.m + 31) / 32) * ((grid.n + 31) / 32));
    for (const std::int64_t m : {std::int64_t{0}, grid.m - 1}) {
      for (const std::int64_t n : {std::int64_t{0}, grid.n - 1}) EXPECT_TRUE(all.contains({m, n}));
    }
    std::map<std::pair<std::int64_t, std::int64_t>, int> by_column, by_row;
    for (const Position& p : all) {
      ++by_column[{p.n, p.m / kPatch}];
      ++by_row[{p.m, p.n / kPatch}];
    }
    for (std::int64_t x = grid.tile_n; x > 0 && x < grid.n; x += grid.tile_n) {
      for (std::int64_t strip = 0; strip * kPatch < grid.m; ++strip) {
        EXPECT_TRUE(by_column.contains({x - 1, strip}) && by_column.contains({x, strip})) << x;
      }
    }
    for (std::int64_t y = grid.tile_m; y > 0 && y < grid.m; y += grid.tile_m) {
      for (std::int64_t strip = 0; strip * kPatch < grid.n; ++strip) {
        EXPECT_TRUE(by_row.contains({y - 1, strip}) && by_row.contains({y, strip})) << y;
      }
    }
  }
}

TEST(Verify, ARightProductPassesWithinItsBound) {
  for (const VerifyMode mode : {VerifyMode::sample, VerifyMode::full}) {
    const Product product(70, 100, 90);
    const Verification result = product.check(mode);
    EXPECT_TRUE(result.passed());
    EXPECT_EQ(result.mode, VerifyMode::full) << "cheap, so every element";
    EXPECT_EQ(result.num_checked, 7000);
    EXPECT_GT(result.max_error, 0);
    EXPECT_LT(result.worst_share, 1);
    EXPECT_GT(result.worst_share, 0);
  }
}

TEST(Verify, OneWrongElementIsFoundAndNamed) {
  for (const double wrong : {kNan, 1e30, 0.0, std::numeric_limits<double>::infinity()}) {
    Product product(70, 100, 90);
    product.at(69, 33) = static_cast<float>(wrong);
    for (const int threads : {1, 3}) {
      const Verification result = product.check(VerifyMode::full, threads);
      EXPECT_EQ(result.num_wrong, 1) << wrong;
      EXPECT_FALSE(result.passed());
      EXPECT_EQ(result.worst.m, 69);
      EXPECT_EQ(result.worst.n, 33);
    }
  }
}

TEST(Verify, SamplesFindAPatchThatWasNeverWritten) {
  Product product(600, 600, 400, 128);
  for (std::int64_t i = 0; i < 32; ++i) {
    for (std::int64_t j = 0; j < 32; ++j) product.at(64 + i, 96 + j) = 0;
  }
  const Verification result = product.check(VerifyMode::sample, 1);
  EXPECT_EQ(result.mode, VerifyMode::sample);
  EXPECT_LT(result.num_checked, 5000);
  EXPECT_GT(result.num_wrong, 0);
}

TEST(Verify, EveryElementIsCheckedWhereThatTakesNoLongerThanTheProductDid) {
  const Product product(300, 300, 600);  // 54 million steps: more than 50 ms hold
  EXPECT_EQ(product.check(VerifyMode::sample, 1).mode, VerifyMode::sample);
  const Verification all = product.check(VerifyMode::sample, 1, 0.06);
  EXPECT_EQ(all.mode, VerifyMode::full);
  EXPECT_EQ(all.num_checked, 300 * 300);
  EXPECT_TRUE(all.passed());
}

TEST(Verify, SamplesFindAWrongColumnAtASeam) {
  Product product(600, 600, 400, 128);
  for (std::int64_t i = 0; i < 600; ++i) product.at(i, 127) = 0;
  EXPECT_GE(product.check(VerifyMode::sample, 1).num_wrong, 19);
}

TEST(Verify, EmptyProductsPass) {
  for (const auto& [m, n] : {std::pair{0, 5}, std::pair{5, 0}}) {
    const Verification result = Product(m, n, 3).check(VerifyMode::full);
    EXPECT_TRUE(result.passed());
    EXPECT_EQ(result.num_checked, 0);
  }
  const Verification zero_depth = Product(5, 5, 0).check(VerifyMode::full);
  EXPECT_TRUE(zero_depth.passed());
  EXPECT_EQ(zero_depth.num_checked, 25);
}

TEST(Verify, NanAndInfinityOfTheInputsAreExpectedInTheOutput) {
  Product product(40, 40, 8);
  product.a[3] = std::numeric_limits<float>::infinity();
  product.b[5 * 40 + 7] = std::numeric_limits<float>::quiet_NaN();
  const Product computed = [&] {
    Product again = product;
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t j = 0; j < 40; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < 8; ++l) {
          sum += again.a[static_cast<std::size_t>(i * 8 + l)] *
                 again.b[static_cast<std::size_t>(l * 40 + j)];
        }
        again.at(i, j) = sum;
      }
    }
    return again;
  }();
  EXPECT_TRUE(computed.check(VerifyMode::full).passed());
  EXPECT_FALSE(product.check(VerifyMode::full).passed()) << "finite where infinity is right";
}

TEST(AccumulatorError, IsThatOfTheSumThatRan) {
  Problem problem = make_problem(1, 1, 4096);
  const double unit = 0x1p-24, one_sum = accumulator_error(problem, {}, 1);
  EXPECT_NEAR(one_sum, 4096 * unit / (1 - 4096 * unit), 1e-12);
  EXPECT_NEAR(accumulator_error(problem, {.block_k = 256}, 1), (256 + 16) * unit, 1e-9);
  EXPECT_NEAR(accumulator_error(problem, {.gpu = true}, 1), 2 * one_sum, 1e-6);
  problem.type_a = problem.type_b = Type::f8e4m3;
  EXPECT_GT(accumulator_error(problem, {.gpu = true}, 1), 0.5) << "plain FP8 sums keep 13 bits";
  EXPECT_LT(accumulator_error(problem, {.gpu = true, .promote_every = 128}, 1), 0.02);
}

TEST(ReferenceEpilogue, IsPartOfTheCheck) {
  Product product(50, 60, 30);
  auto epilogue = parse_epilogue("relu(acc * 2 + bias[n])");
  ASSERT_TRUE(epilogue) << epilogue.error().message;
  set_contiguous_operands(*epilogue, 50, 60);
  product.problem.epilogue = *epilogue;
  std::vector<float> bias(60);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(normal_value(9, i));
  const void* operands[] = {bias.data()};
  const auto check = [&] {
    VerifyOptions options;
    options.mode = VerifyMode::full;
    return verify({.problem = product.problem,
                   .schedule = product.schedule,
                   .a = product.a.data(),
                   .b = product.b.data(),
                   .c = nullptr,
                   .d = product.d.data(),
                   .operands = operands},
                  options);
  };
  EXPECT_FALSE(check().passed()) << "the epilogue has not been applied";
  for (std::int64_t i = 0; i < 50; ++i) {
    for (std::int64_t j = 0; j < 60; ++j) {
      const float x = product.at(i, j) * 2 + bias[static_cast<std::size_t>(j)];
      product.at(i, j) = x < 0 ? 0 : x;
    }
  }
  EXPECT_TRUE(check().passed());
}

TEST(ReferenceEpilogue, BoundsWhatFloat32Computes) {
  // Each function, over a range: the float32 value is inside the bound, and the bound is tight
  // enough to mean something.
  for (const char* text : {"gelu(acc)", "gelu_tanh(acc)", "silu(acc)", "sigmoid(acc)", "tanh(acc)",
                           "exp(acc)", "acc / 3 + 1", "min(acc, 2) * max(acc, -1)"}) {
    const auto epilogue = parse_epilogue(text);
    ASSERT_TRUE(epilogue) << epilogue.error().message;
    Problem problem = make_problem(1, 1, 1);
    problem.epilogue = *epilogue;
    for (double x = -20; x < 20; x += 0.37) {
      const Bounded result = reference_epilogue(problem, {}, {static_cast<float>(x), 0});
      EXPECT_TRUE(std::isfinite(result.value)) << text << " at " << x;
      EXPECT_LE(result.error, 1e-5 * (std::fabs(result.value) + std::fabs(x) + 1)) << text << x;
    }
  }
}

TEST(IsWithin, NanNeverPassesForANumber) {
  EXPECT_FALSE(is_within(kNan, {1, 0.5}, Type::f32));
  EXPECT_TRUE(is_within(kNan, {kNan, 0}, Type::f32));
  EXPECT_FALSE(is_within(1, {kNan, 0}, Type::f32));
  EXPECT_TRUE(is_within(1.4, {1, 0.5}, Type::f32));
  EXPECT_FALSE(is_within(1.6, {1, 0.5}, Type::f32));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_within(infinity, {1e39, 1}, Type::f32)) << "past the largest float32";
  EXPECT_FALSE(is_within(infinity, {1e37, 1}, Type::f32));
  EXPECT_TRUE(is_within(448, {1000, 1}, Type::f8e4m3)) << "FP8 saturates";
}

}  // namespace
}  // namespace tilewise
