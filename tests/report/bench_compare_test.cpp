#include "report/bench_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewise {
namespace {

BenchRow row(const std::string& name, double time_us, double spread = 0.01) {
  BenchRow row;
  row.suite = "s";
  row.name = name;
  row.time_us = time_us;
  row.low_us = time_us * (1 - spread);
  row.high_us = time_us * (1 + spread);
  row.verified = true;
  return row;
}

TEST(Compare, SlowerIsBeyondTheThresholdAndBeyondTheScatter) {
  const BenchDocument before{"cpu",
                             {row("a", 100), row("b", 100), row("c", 100, 0.2), row("d", 100)}};
  const BenchDocument after{"cpu", {row("a", 110), row("b", 102), row("c", 110), row("d", 80)}};
  const Result<Comparison> comparison = compare(before, after, 0.03);
  ASSERT_TRUE(comparison) << comparison.error().message;
  EXPECT_EQ(comparison->rows[0].change, Change::slower);
  EXPECT_EQ(comparison->rows[1].change, Change::same) << "within the threshold";
  EXPECT_EQ(comparison->rows[2].change, Change::same) << "within the scatter of the first";
  EXPECT_EQ(comparison->rows[3].change, Change::faster);
  EXPECT_TRUE(comparison->has_regression());
  EXPECT_FALSE(compare(before, after, 0.2)->has_regression());
  EXPECT_FALSE(compare(before, before, 0)->has_regression());
}

TEST(Compare, AResultThatBecameWrongIsARegression) {
  BenchDocument after{"cpu", {row("a", 50)}};
  after.rows[0].verified = false;
  const Result<Comparison> comparison = compare({"cpu", {row("a", 100)}}, after, 0.03);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->rows[0].change, Change::wrong);
  EXPECT_TRUE(comparison->has_regression());
}

TEST(Compare, MatchesByShapeAndByScheduleWhereThatTellsRowsApart) {
  BenchRow first = row("a", 100), second = row("a", 50);
  first.schedule = "naive";
  second.schedule = "mma";
  const Result<Comparison> ladder =
      compare({"gpu", {first, second}}, {"gpu", {second, first}}, 0.03);
  ASSERT_TRUE(ladder);
  EXPECT_EQ(ladder->rows[0].ratio, 1);
  EXPECT_EQ(ladder->rows[1].ratio, 1);
  EXPECT_EQ(compare({"gpu", {first}}, {"gpu", {second}}, 0.03)->rows[0].ratio, 0.5)
      << "another choice of schedule for one shape is a change of that shape";
}

TEST(Compare, RowsWithoutAPartnerAreNamed) {
  const BenchDocument before{"cpu", {row("a", 100), row("gone", 100)}};
  const BenchDocument after{"cpu", {row("a", 100), row("new", 100)}};
  const Result<Comparison> comparison = compare(before, after, 0.03);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->only_before, std::vector<std::string>{"gone"});
  EXPECT_EQ(comparison->only_after, std::vector<std::string>{"new"});
  const Result<Comparison> nothing = compare({"", {row("a", 1)}}, {"", {row("b", 1)}}, 0.03);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, testing::HasSubstr("no row"));
}

}  // namespace
}  // namespace tilewise
