#include "epilogue/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "epilogue/reference.h"

namespace tilewise {
namespace {

Epilogue parsed(std::string_view text) { return parse_epilogue(text).value(); }

// One operand or C in memory: `batch` matrices of rows x columns values of a type, with padded
// strides.
struct Stored {
  std::vector<std::byte> bytes;
  Type type;
  Strides strides;
  [[nodiscard]] double at(std::int64_t b, std::int64_t m, std::int64_t n) const {
    double value = 0;
    load_elements<double>(type, bytes.data(),
                          b * strides.batch + m * strides.row + n * strides.column, 1, 1, &value);
    return value;
  }
};

Stored random_matrix(std::mt19937& random, Type type, int batch, int rows, int columns,
                     bool transposed) {
  const std::int64_t row = transposed ? 1 : columns + 3, column = transposed ? rows + 2 : 1;
  const std::int64_t matrix = (rows + 4) * static_cast<std::int64_t>(columns + 4);
  Stored stored{{}, type, {row, column, matrix}};
  stored.bytes.resize(static_cast<std::size_t>(batch * matrix * size_bytes(type)));
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < batch * matrix; ++i) {
    const double value = normal(random);
    store_elements<double>(type, stored.bytes.data(), i, 1, 1, &value);
  }
  return stored;
}

// Evaluates a tile and compares each element with the definition; the outside stays as it was.
template <class T>
void check_tile(std::string_view text, int rows, int columns, Type type, bool transposed) {
  SCOPED_TRACE(std::string(text) + " " + std::to_string(rows) + "x" + std::to_string(columns));
  std::mt19937 random(7);
  constexpr int kBatch = 3, kB = 2, kM0 = 5, kN0 = 3;
  Epilogue epilogue = parsed(text);
  std::vector<Stored> operands;
  std::vector<const void*> pointers;
  for (int i = 0; i < epilogue.num_operands; ++i) {
    operands.push_back(random_matrix(random, type, kBatch, kM0 + rows, kN0 + columns, transposed));
    EpilogueOperand& operand = epilogue.operands[i];
    Strides& strides = operands.back().strides;
    if (!operand.index_b) strides.batch = 0;
    if (!operand.index_m) strides.row = 0;
    if (!operand.index_n) strides.column = 0;
    operand.strides = strides;
    operand.type = type;
  }
  for (const Stored& operand : operands) pointers.push_back(operand.bytes.data());
  const Stored c = random_matrix(random, type, kBatch, kM0 + rows, kN0 + columns, transposed);

  const int row_stride = columns + 5;
  std::vector<T> tile(static_cast<std::size_t>(rows) * row_stride);
  std::normal_distribution<double> normal(0, 2);
  for (T& x : tile) x = static_cast<T>(normal(random));
  const std::vector<T> before = tile;
  evaluate_portable(
      epilogue,
      {kB, kM0, kN0, rows, columns, row_stride, pointers.data(), c.bytes.data(), c.strides, c.type},
      tile.data());

  const double tolerance = 64 * std::numeric_limits<T>::epsilon();
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < row_stride; ++j) {
      const std::size_t at = static_cast<std::size_t>(i) * row_stride + j;
      if (j >= columns) {
        ASSERT_EQ(tile[at], before[at]);
        continue;
      }
      std::vector<reference::Real> values;
      for (const Stored& operand : operands) {
        values.push_back(static_cast<T>(operand.at(kB, kM0 + i, kN0 + j)));
      }
      const auto expected = static_cast<double>(reference::evaluate(
          epilogue, before[at], static_cast<T>(c.at(kB, kM0 + i, kN0 + j)), values));
      ASSERT_NEAR(tile[at], expected, tolerance * (1 + std::fabs(expected)) * 4) << i << "," << j;
    }
  }
}

TEST(EvaluateTile, MatchesTheDefinitionOnEveryShapeAndType) {
  for (int rows : {1, 2, 7, 65}) {
    for (int columns : {1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 127, 200}) {
      check_tile<float>("gelu(acc + bias[n]) + residual[m,n]", rows, columns, Type::f32, false);
      check_tile<double>("gelu(acc + bias[n]) + residual[m,n]", rows, columns, Type::f64, false);
    }
  }
  for (Type type : {Type::f64, Type::f32, Type::bf16, Type::f16, Type::f8e4m3, Type::f8e5m2}) {
    for (bool transposed : {false, true}) {
      check_tile<float>("s*acc + r[m]*c[m,n] - q[n]*x[b,m,n] + y[b]*z[b,m]", 9, 70, type,
                        transposed);
      check_tile<double>("s*acc + r[m]*c[m,n] - q[n]*x[b,m,n] + y[b]*z[b,m]", 9, 70, type,
                         transposed);
    }
  }
}

TEST(EvaluateTile, EveryOperationMatchesTheDefinition) {
  for (const char* text : {"relu(acc)", "gelu(acc)", "gelu_tanh(acc)", "silu(acc)", "sigmoid(acc)",
                           "tanh(acc)", "exp(acc)", "abs(acc)", "-acc", "min(acc, c[m,n])",
                           "max(acc, c[m,n])", "clamp(acc, -0.5, c[m,n])",
                           "acc / (2 + abs(c[m,n]))", "acc - c[m,n]", "3 - (acc - 1) / 2"}) {
    check_tile<float>(text, 5, 37, Type::f32, false);
    check_tile<double>(text, 5, 37, Type::f64, false);
  }
}

TEST(EvaluateTile, TheDeepestExpressionFits) {
  std::string text;
  for (int i = 0; i < 15; ++i) text += "acc + (";
  check_tile<float>(text + "acc" + std::string(15, ')'), 3, 40, Type::f32, false);
}

template <class T>
T value(std::string_view text, T acc) {
  evaluate_portable(parsed(text), {.rows = 1, .columns = 1, .row_stride = 1}, &acc);
  return acc;
}

template <class T>
void check_special_values() {
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const EpilogueFunction& function : epilogue_functions()) {
    std::string text = std::string(function.name) + "(acc";
    for (int i = 1; i < function.num_arguments; ++i) text += ", 1";
    EXPECT_TRUE(std::isnan(value<T>(text + ")", nan))) << text;
    if (function.num_arguments == 1) {
      const T zero = value<T>(text + ")", T(-0.0));
      EXPECT_EQ(zero, function.name == "exp" ? 1 : function.name == "sigmoid" ? T(0.5) : 0);
    }
  }
  EXPECT_TRUE(std::isnan(value<T>("min(1, acc)", nan)));
  EXPECT_TRUE(std::isnan(value<T>("max(1, acc)", nan)));
  EXPECT_TRUE(std::isnan(value<T>("clamp(1, acc, 2)", nan)));
  EXPECT_TRUE(std::isnan(value<T>("clamp(1, 0, acc)", nan)));
  for (const char* text : {"relu(acc)", "gelu(acc)", "gelu_tanh(acc)", "silu(acc)", "exp(acc)"}) {
    EXPECT_EQ(value<T>(text, inf), inf) << text;
    EXPECT_EQ(value<T>(text, -inf), T(0)) << text;
    EXPECT_EQ(value<T>(text, -std::numeric_limits<T>::max()), T(0)) << text;
  }
  EXPECT_EQ(value<T>("tanh(acc)", inf), T(1));
  EXPECT_EQ(value<T>("tanh(acc)", -inf), T(-1));
  EXPECT_EQ(value<T>("sigmoid(acc)", inf), T(1));
  EXPECT_EQ(value<T>("sigmoid(acc)", -inf), T(0));
  EXPECT_EQ(value<T>("1 / acc", T(0)), inf);
  const T tiny = std::numeric_limits<T>::denorm_min();
  EXPECT_EQ(value<T>("relu(acc)", tiny), tiny);
  EXPECT_EQ(value<T>("tanh(acc)", tiny), tiny);
  EXPECT_EQ(value<T>("acc + acc", tiny), 2 * tiny);
}

TEST(EvaluateTile, SpecialValues) {
  check_special_values<float>();
  check_special_values<double>();
}

TEST(EvaluateTile, AnUnreadCAndOperandAreNotTouched) {
  Epilogue epilogue = parsed("acc * 2");
  std::vector<float> tile{1, 2};
  evaluate_portable(epilogue, {.rows = 1, .columns = 2, .row_stride = 2}, tile.data());
  EXPECT_EQ(tile, (std::vector<float>{2, 4}));
}

TEST(EvaluateTile, NothingIsWrittenToAnEmptyTile) {
  float x = 3;
  const Epilogue epilogue = parsed("acc * 2");
  evaluate_portable(epilogue, {.rows = 0, .columns = 5, .row_stride = 5}, &x);
  evaluate_portable(epilogue, {.rows = 5, .columns = 0, .row_stride = 5}, &x);
  EXPECT_EQ(x, 3);
}

// The tile is D itself, and D is also C or a residual.
TEST(EvaluateTile, AnOperandMayBeTheTile) {
  for (int columns : {3, 40, 150}) {
    Epilogue epilogue = parsed("acc + 2 * x[m,n] - c[m,n]");
    constexpr int kRows = 50;
    set_contiguous_operands(epilogue, kRows, columns);
    std::vector<float> tile(static_cast<std::size_t>(kRows) * columns);
    for (std::size_t i = 0; i < tile.size(); ++i) tile[i] = static_cast<float>(i);
    const void* pointers[] = {tile.data()};
    evaluate_portable(epilogue,
                      {.rows = kRows,
                       .columns = columns,
                       .row_stride = columns,
                       .operands = pointers,
                       .c = tile.data(),
                       .c_strides = {columns, 1, 0}},
                      tile.data());
    for (std::size_t i = 0; i < tile.size(); ++i) ASSERT_EQ(tile[i], 2 * static_cast<float>(i));
  }
}

// A value must not depend on the tile it stands in: threads may cut the output anywhere.
TEST(EvaluateTile, BitsDoNotDependOnTheTile) {
  const Epilogue epilogue = parsed("gelu(acc) * 0.3 + tanh(acc) / 3 + silu(acc)");
  constexpr int kSize = 61;
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> whole(kSize * kSize), pieces, single;
  for (float& x : whole) x = normal(random);
  pieces = single = whole;
  const TileContext context{.rows = kSize, .columns = kSize, .row_stride = kSize};
  evaluate_portable(epilogue, context, whole.data());
  for (float& x : single)
    evaluate_portable(epilogue, {.rows = 1, .columns = 1, .row_stride = 1}, &x);
  for (int m = 0; m < kSize; m += 6) {
    for (int n = 0; n < kSize; n += 16) {
      evaluate_portable(epilogue,
                        {.m0 = m,
                         .n0 = n,
                         .rows = std::min(6, kSize - m),
                         .columns = std::min(16, kSize - n),
                         .row_stride = kSize},
                        pieces.data() + m * kSize + n);
    }
  }
  EXPECT_EQ(whole, single);
  EXPECT_EQ(whole, pieces);
}

}  // namespace
}  // namespace tilewise
