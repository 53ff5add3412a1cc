#include "io/schedule_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/embedded.h"
#include "tilewise/schedule.h"

namespace tilewise {

extern const EmbeddedFile tilewise_schedule_files[];
extern const std::size_t tilewise_schedule_files_size;

namespace {

using testing::HasSubstr;

constexpr std::string_view kSmall =
    R"({"schema": "tilewise.schedule/1", "name": "x", "kernel": "x",
        "tiles": [{"level": "block", "m": 8, "n": 8, "k": 8}]})";

std::string with(std::string_view fields) {
  std::string text(kSmall);
  text.insert(text.rfind('}'), ", " + std::string(fields));
  return text;
}

std::string message(std::string_view text) {
  const Result<Schedule> schedule = parse_schedule(text);
  return schedule ? "no error" : schedule.error().message;
}

TEST(NamedSchedules, TheRungsStandFirstAndInOrder) {
  const std::vector<std::string_view> rungs = {
      "naive_rows",   "naive",         "shared_tile",   "column_tile",    "square_tile",
      "vector_loads", "conflict_free", "double_buffer", "warp_tile",      "tuned_f32",
      "wmma",         "mma",           "wgmma",         "wgmma_pipeline", "wgmma_fp8"};
  ASSERT_GE(named_schedules().size(), rungs.size());
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    EXPECT_EQ(named_schedules()[i].name, rungs[i]);
    EXPECT_EQ(named_schedules()[i].kernel, rungs[i]);
    EXPECT_EQ(named_schedules()[i].device, Device::gpu);
    EXPECT_FALSE(named_schedules()[i].note.empty());
  }
}

TEST(NamedSchedules, EveryEmbeddedFileParses) {
  for (std::size_t i = 0; i < tilewise_schedule_files_size; ++i) {
    const Result<Schedule> schedule = parse_schedule(tilewise_schedule_files[i].text);
    EXPECT_TRUE(schedule) << tilewise_schedule_files[i].name << ": " << schedule.error().message;
  }
  EXPECT_EQ(named_schedules().size(), tilewise_schedule_files_size);
}

TEST(NamedSchedules, AnUnknownNameGetsTheNearest) {
  ASSERT_TRUE(find_schedule("wgmma"));
  const Result<Schedule> unknown = find_schedule("sqare_tile");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::bad_request);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean \"square_tile\"?"));
}

TEST(ScheduleJson, WhatIsWrittenReadsBackEqual) {
  for (const Schedule& schedule : named_schedules()) {
    const Result<Schedule> again = parse_schedule(to_json(schedule));
    ASSERT_TRUE(again) << schedule.name << ": " << again.error().message;
    EXPECT_EQ(*again, schedule) << schedule.name;
  }
  Schedule all;
  all.name = "all \"fields\"";
  all.kernel = "k";
  all.tiles = {
      {Level::cluster, 256, 256, 0}, {Level::block, 128, 128, 32}, {Level::thread, 8, 4, 0, 2, 4}};
  all.cluster = {2, 4};
  all.stages = 5;
  all.copy = Copy::cp_async;
  all.vector_bytes = {16, 8, 4};
  all.shared_layout = {SharedLayout::Kind::swizzle, 64};
  all.order = {Order::Kind::grouped, 8, Order::Axis::n};
  all.split_k = {3, SplitK::Reduce::atomic};
  all.stream_k = all.persistent = all.swap_ab = true;
  all.consumers = Consumers::ping_pong;
  all.promote_every = 128;
  all.compute = Compute::f32_bf16x9;
  all.note = "one sentence";
  const Result<Schedule> again = parse_schedule(to_json(all));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, all);
}

TEST(ScheduleJson, AbsentFieldsAreDefaults) {
  const Result<Schedule> schedule = parse_schedule(kSmall);
  ASSERT_TRUE(schedule) << schedule.error().message;
  Schedule expected;
  expected.name = expected.kernel = "x";
  expected.tiles = {{Level::block, 8, 8, 8}};
  EXPECT_EQ(*schedule, expected);
}

TEST(ScheduleJson, ErrorsNameTheFieldItsValueAndWhatIsValid) {
  EXPECT_THAT(message(with(R"("stagse": 2)")),
              HasSubstr("schedule has no field \"stagse\"; did you mean \"stages\"?"));
  EXPECT_THAT(message(with(R"("stages": 0)")), HasSubstr("schedule.stages is 0"));
  EXPECT_THAT(message(with(R"("stages": 2.5)")), HasSubstr("schedule.stages is 2.5"));
  EXPECT_THAT(message(with(R"("stages": 99999999999999999999999)")), HasSubstr("whole number"));
  EXPECT_THAT(message(with(R"("copy": "blk")")), HasSubstr("direct, cp_async, bulk"));
  EXPECT_THAT(message(with(R"("copy": 3)")), HasSubstr("schedule.copy is 3"));
  EXPECT_THAT(message(with(R"("order": {"kind": "rows"})")),
              HasSubstr("schedule.order.kind is \"rows\""));
  EXPECT_THAT(message(with(R"("order": [])")), HasSubstr("schedule.order is []"));
  EXPECT_THAT(message(with(R"("shared_layout": "pad:")")), HasSubstr("pad:N"));
  EXPECT_THAT(message(with(R"("shared_layout": "swizzle:48")")), HasSubstr("swizzle:32"));
  EXPECT_THAT(message(with(R"("accumulate": "promoted:-1")")), HasSubstr("promoted:N"));
  EXPECT_THAT(message(with(R"("compute": "f31")")), HasSubstr("f32"));
  EXPECT_THAT(message(with(R"("persistent": 1)")), HasSubstr("true or false"));
  EXPECT_THAT(message(with(R"("name": "y")")), HasSubstr("twice"));
}

TEST(ScheduleJson, ErrorsInTilesNameTheirPlace) {
  const auto tiles = [](std::string_view list) {
    return message(R"({"schema": "tilewise.schedule/1", "name": "x", "kernel": "x", "tiles": )" +
                   std::string(list) + "}");
  };
  EXPECT_THAT(tiles(R"([{"level": "block"}, {"level": "thread", "mm": 1}])"),
              HasSubstr("schedule.tiles[1] has no field \"mm\""));
  EXPECT_THAT(tiles(R"([{"m": 1}])"), HasSubstr("schedule.tiles[0].level"));
  EXPECT_THAT(tiles(R"([{"level": "block", "m": -1}])"), HasSubstr("schedule.tiles[0].m is -1"));
  EXPECT_THAT(tiles(R"({})"), HasSubstr("schedule.tiles is {}"));
  EXPECT_THAT(tiles(R"([{"level": "thread"}, {"level": "block"}])"), HasSubstr("outside in"));
}

TEST(ScheduleJson, HostileTextIsAnErrorWithItsPlace) {
  EXPECT_THAT(message(""), HasSubstr("line 1, column 1"));
  EXPECT_THAT(message("{\n  \"schema\": tilewise\n}"), HasSubstr("line 2"));
  EXPECT_THAT(message("[1, 2]"), HasSubstr("must be an object"));
  EXPECT_THAT(message(std::string(1000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(message(std::string(2 << 20, ' ')), HasSubstr("at most"));
  EXPECT_THAT(message("{\"a\": \"\xff\"}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(message(R"({"schema": "tilewise.schedule/2"})"),
              HasSubstr("schedule.schema is \"tilewise.schedule/2\""));
  EXPECT_THAT(message(std::string(kSmall) + "x"), HasSubstr("not valid JSON"));
}

}  // namespace
}  // namespace tilewise
