#include "io/bench_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/suite_csv.h"

namespace tilewise {
namespace {

using testing::HasSubstr;

TEST(BenchDocument, WhatIsWrittenReadsBack) {
  BenchRow row;
  row.suite = "cubes";
  row.name = "cube64";
  row.m = row.n = row.k = 64;
  row.dtype = row.compute = "f32";
  row.schedule = "packed_avx2_f32";
  row.device = "cpu";
  row.threads = 2;
  row.time_us = 12.5;
  row.low_us = 12;
  row.high_us = 13;
  row.tflops = 0.04;
  row.share_of_peak = 0.25;
  row.verified = true;
  BenchRow unchecked = row;
  unchecked.name = "other";
  unchecked.verified = std::nullopt;
  unchecked.share_of_peak = 1;
  BenchRow empty = row;
  empty.name = "empty";
  empty.m = 0;
  empty.share_of_peak = 0;
  JsonWriter w;
  w.begin_object();
  w.member("schema", "tilewise.bench/1");
  write_bench_rows(w, {row, unchecked, empty});
  w.end_object();
  const std::string text = std::move(w).finish();
  EXPECT_THAT(text, HasSubstr(R"("geomean": 0.5, "worst": 0.25, "worst_name": "cube64")"));
  const Result<BenchDocument> document = parse_bench(text);
  ASSERT_TRUE(document) << document.error().message;
  ASSERT_EQ(document->rows.size(), 3u);
  EXPECT_EQ(document->rows[0].name, "cube64");
  EXPECT_EQ(document->rows[0].time_us, 12.5);
  EXPECT_EQ(document->rows[0].verified, true);
  EXPECT_EQ(document->rows[1].verified, std::nullopt);
}

TEST(BenchDocument, RatiosWhereARivalStandsBesideEachRow) {
  BenchRow row;
  row.name = "cube64";
  row.m = row.n = row.k = 64;
  row.time_us = 10;
  row.share_of_peak = 0.5;
  EXPECT_EQ(ratio_of(row), std::nullopt);
  row.rivals = {{"slow", "1", "x", 40, 0.1}, {"fast", "2", "y", 20, 0.2}};
  EXPECT_EQ(ratio_of(row), 2.0) << "the fastest rival's time over ours";
  BenchRow slower = row;
  slower.name = "slower";
  slower.rivals[1].time_us = 5;
  EXPECT_EQ(summarise({row, slower}).of, "ratio");
  EXPECT_EQ(summarise({row, slower}).geomean, 1.0);
  EXPECT_EQ(summarise({row, slower}).worst, 0.5);
  EXPECT_EQ(summarise({row, slower}).worst_name, "slower");
  BenchRow alone = row;
  alone.rivals.clear();
  EXPECT_EQ(summarise({row, alone}).of, "share_of_peak") << "not every row has a rival";
  BenchRow empty = alone;
  empty.m = 0;
  EXPECT_EQ(summarise({row, empty}).of, "ratio");
  JsonWriter w;
  w.begin_object();
  write_bench_rows(w, {row});
  w.end_object();
  EXPECT_THAT(std::move(w).finish(),
              HasSubstr(R"("rivals": [{"name": "slow", "version": "1", "kernel": "x", )"
                        R"("time_us": 40, "tflops": 0.1}, {"name": "fast", )"));
}

TEST(BenchDocument, ReadsWhatOtherVerbsAddAndRefusesWhatIsNoMeasurement) {
  const auto message = [](std::string_view rows) {
    const auto document = parse_bench(R"({"schema": "tilewise.bench/1", "extra": 1, "rows": )" +
                                      std::string(rows) + "}");
    return document ? "no error" : document.error().message;
  };
  EXPECT_EQ(message(R"([{"name": "x", "time_us": 1, "registers": 40, "max_error": null}])"),
            "no error");
  EXPECT_THAT(message(R"([{"name": "x"}])"), HasSubstr("rows[0].time_us"));
  EXPECT_THAT(message(R"([{"name": "x", "time_us": 1}, {"time_us": 1}])"),
              HasSubstr("rows[1].name"));
  EXPECT_THAT(message(R"([{"name": "x", "time_us": -1}])"), HasSubstr("more than 0"));
  EXPECT_THAT(message(R"([{"name": "x", "time_us": "1"}])"), HasSubstr("must be a number"));
  EXPECT_THAT(message("[3]"), HasSubstr("rows[0] is 3"));
  EXPECT_THAT(message("{}"), HasSubstr("must be an array"));
  const auto other = parse_bench(R"({"schema": "tilewise.count/1"})");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("tilewise.bench/1"));
}

TEST(Suite, ReadsShapes) {
  const auto shapes = parse_suite("name,m,n,k,batch\nx,1,2,3,4\r\n\ny@8,8,6144,4096,1\n");
  ASSERT_TRUE(shapes) << shapes.error().message;
  ASSERT_EQ(shapes->size(), 2u);
  EXPECT_EQ((*shapes)[0].batch, 4);
  EXPECT_EQ((*shapes)[1].name, "y@8");
  EXPECT_EQ((*shapes)[1].n, 6144);
}

TEST(Suite, ErrorsNameTheLine) {
  const auto message = [](std::string_view text) {
    const auto shapes = parse_suite(text);
    return shapes ? "no error" : shapes.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("name,m,n,k,batch"));
  EXPECT_THAT(message("m,n,k\n"), HasSubstr("\"m,n,k\""));
  EXPECT_THAT(message("name,m,n,k,batch\n"), HasSubstr("no shape"));
  EXPECT_THAT(message("name,m,n,k,batch\nx,1,2,3\n"), HasSubstr("line 2 has 4 fields"));
  EXPECT_THAT(message("name,m,n,k,batch\nx,1,2,3,1\ny,1,2,-3,1\n"), HasSubstr("line 3: \"-3\""));
  EXPECT_THAT(message("name,m,n,k,batch\nx,1,2,3,1\nx,1,2,3,1\n"), HasSubstr("stands twice"));
  EXPECT_THAT(message("name,m,n,k,batch\n,1,2,3,1\n"), HasSubstr("no name"));
}

}  // namespace
}  // namespace tilewise
