#include "io/json_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace tilewise {
namespace {

std::string written(const auto& value) {
  JsonWriter w;
  w.value(value);
  std::string text = std::move(w).finish();
  text.pop_back();
  return text;
}

TEST(JsonWriter, CountsAreBareDigitsOfAnyLength) {
  const Count largest = Count::from_raw(~static_cast<uint128>(0) >> 1);
  EXPECT_EQ(written(largest), "170141183460469231731687303715884105727");
  EXPECT_EQ(written(Count(0)), "0");
  EXPECT_EQ(written(Count(std::int64_t{1} << 62) * Count(8)), "36893488147419103232");
  EXPECT_EQ(written(largest + Count(1)), "null");
}

TEST(JsonWriter, DoublesAreShortestAndReadBack) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(64.0), "64");
  EXPECT_EQ(written(1e300), "1e+300");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), "null");
  for (const double x : {1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5e-7}) {
    EXPECT_EQ(std::strtod(written(x).c_str(), nullptr), x);
  }
}

TEST(JsonWriter, StringsAreEscapedAndAlwaysUtf8) {
  EXPECT_EQ(written("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(written("\xc3\xa9"), "\"\xc3\xa9\"");                   // e acute, kept
  EXPECT_EQ(written("\xff"), "\"\\ufffd\"");                        // never valid
  EXPECT_EQ(written("\xc0\xaf"), "\"\\ufffd\\ufffd\"");             // overlong
  EXPECT_EQ(written("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
  EXPECT_EQ(written("\xe2\x82"), "\"\\ufffd\\ufffd\"");             // cut short
}

TEST(JsonWriter, LaysOutBlocksAndLines) {
  JsonWriter w;
  w.begin_object();
  w.member("a", 1);
  w.key("list");
  w.begin_array();
  w.begin_object(JsonWriter::Layout::line);
  w.member("x", true);
  w.key("y");
  w.begin_array();
  w.value(1);
  w.value(2);
  w.end_array();
  w.end_object();
  w.end_array();
  w.key("none");
  w.begin_array();
  w.end_array();
  w.end_object();
  EXPECT_EQ(std::move(w).finish(),
            "{\n  \"a\": 1,\n  \"list\": [\n    {\"x\": true, \"y\": [1, 2]}\n  ],\n"
            "  \"none\": []\n}\n");
}

}  // namespace
}  // namespace tilewise
