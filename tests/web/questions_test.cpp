// The explorer's questions: texts read back, answers equal the library's, nothing makes them fail
// hard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "gpu/kernel_files.h"
#include "schedule/honours.h"
#include "tilewise/estimate.h"
#include "web/answer.h"
#include "web/machine_query.h"
#include "web/schedule_query.h"

namespace tilewise::web {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const Library& library() {
  static const Library all = [] {
    Library l;
    l.schedules.assign(named_schedules().begin(), named_schedules().end());
    l.machines.assign(named_machines().begin(), named_machines().end());
    l.kernels = gpu::kernel_files().value();
    return l;
  }();
  return all;
}

json answer(std::string_view kind, const std::string& request) {
  return json::parse(ask(kind, request, library()));
}
std::string error_of(std::string_view kind, const std::string& request) {
  return answer(kind, request).value("error", "");
}

TEST(Query, ReadsBackWhatItWrites) {
  Query q;
  q.add("note", "50 % of A & B = \"all\", +1 \xc3\xa4");
  q.add("tile", "block:128x128x8");
  q.add("tile", "thread:8x8");
  const auto again = Query::parse(q.text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->items(), q.items());
  EXPECT_EQ(again->values("tile").size(), 2u);
}

TEST(Query, RefusesHalfAnEscapeAndLongAddresses) {
  EXPECT_FALSE(Query::parse("m=%4"));
  EXPECT_FALSE(Query::parse("m=%zz"));
  EXPECT_FALSE(Query::parse(std::string(Query::kMostBytes + 1, 'm')));
}

TEST(ScheduleQuery, NamedSchedulesReadBack) {
  for (const Schedule& schedule : named_schedules()) {
    const auto query = Query::parse(schedule_query(schedule).text());
    ASSERT_TRUE(query);
    const auto again = apply_schedule(*query, Schedule{});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, schedule) << schedule.name;
  }
}

// What an editor is offered is what the reader takes, and all of it.
TEST(ScheduleQuery, OffersWhatItReads) {
  const json choices = answer("names", "").at("choices");
  const auto reads = [](const std::string& text) {
    const auto query = Query::parse(text);
    return query && apply_schedule(*query, Schedule{}).has_value();
  };
  for (const std::string field : {"copy", "consumers", "compute", "device"}) {
    ASSERT_FALSE(choices.at(field).empty());
    for (const std::string value : choices[field]) EXPECT_TRUE(reads(field + "=" + value)) << value;
  }
  for (const std::string kind : choices.at("order")) {
    for (const std::string axis : choices.at("axis")) {
      EXPECT_TRUE(reads("order=" + kind + ":2:" + axis));
    }
  }
  for (const std::string reduce : choices.at("reduce")) EXPECT_TRUE(reads("split=2:" + reduce));
  for (const std::string layout : choices.at("layout")) {
    EXPECT_TRUE(reads("layout=" + layout + (layout == "plain" ? "" : ":32")));
  }
  EXPECT_THAT(error_of("count", "compute=f8"),
              HasSubstr(choices.at("compute").back().get<std::string>()));
  for (const std::string field : choices.at("fields")) EXPECT_TRUE(is_schedule_field(field));
}

TEST(MachineQuery, NamedMachinesReadBack) {
  for (Machine machine : named_machines()) {
    const auto query = Query::parse(machine_query(machine).text());
    ASSERT_TRUE(query);
    const auto again = parse_machine_query(*query);
    ASSERT_TRUE(again) << again.error().message;
    machine.notes.clear();
    EXPECT_EQ(*again, machine) << machine.name;
  }
}

TEST(Request, NamesWhatIsWrong) {
  EXPECT_THAT(error_of("count", "m=-1"), HasSubstr("m is \"-1\""));
  EXPECT_THAT(error_of("count", "n=99999999999999999999999"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("count", "k=<b>"), HasSubstr("k is"));
  EXPECT_THAT(error_of("count", "schedule=sqare_tile"), HasSubstr("square_tile"));
  EXPECT_THAT(error_of("count", "machine=h20"), HasSubstr("h200"));
  EXPECT_THAT(error_of("count", "tile=block:0x0x0x0"), HasSubstr("tile"));
  EXPECT_THAT(error_of("count", "order=grouped:0"), HasSubstr("order"));
  EXPECT_THAT(error_of("step", "at=99999,0"), HasSubstr("at (row"));
  EXPECT_THAT(error_of("step", "phase=512"), HasSubstr("phase"));
  EXPECT_THAT(error_of("what", ""), HasSubstr("question"));
}

// Sizes and positions that no screen shows: an answer or a sentence, and soon.
TEST(Request, SurvivesExtremes) {
  for (const char* kind : {"count", "step", "inside", "barriers", "simulate", "estimate", "order",
                           "banks", "fragment", "kernel"}) {
    for (const char* request :
         {"m=1099511627776&n=1099511627776&k=1099511627776", "m=0&n=0&k=0",
          "m=1&n=1&k=1099511627776", "m=0&n=5&k=7", "m=1099511627776&n=1&k=1&schedule=naive",
          "schedule=packed_avx2_f32", "tile=none", "tile=block:1099511627776x1x1",
          "tile=block:4096x4096x4096&tile=thread:1x1x0", "type=f8e4m3&schedule=wgmma_fp8",
          "banks_rows=0", "banks_bytes=3", "fragment=m1n1k1"}) {
      EXPECT_TRUE(answer(kind, request).is_object()) << kind << "?" << request;
    }
  }
}

struct Case {
  std::string request;
  std::int64_t m, n, k;
};

Case random_case(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  Case c;
  c.m = pick(1, 70), c.n = pick(1, 70), c.k = pick(1, 70);
  const int tm = pick(1, 4), tn = pick(1, 4);
  c.request = "m=" + std::to_string(c.m) + "&n=" + std::to_string(c.n) +
              "&k=" + std::to_string(c.k) + "&tile=block:" + std::to_string(tm * pick(1, 6)) + "x" +
              std::to_string(tn * pick(1, 6)) + "x" + std::to_string(pick(1, 12)) +
              "&tile=thread:" + std::to_string(tm) + "x" + std::to_string(tn) + "x0&order=" +
              std::array{"row", "column", "grouped:3", "serpentine:2",
                         "hilbert"}[static_cast<std::size_t>(pick(0, 4))];
  return c;
}

// The last moment of the last block has read what the whole product reads, and the simulation
// agrees.
TEST(Step, EndsAtTheCount) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const Case c = random_case(random);
    const json count = answer("count", c.request);
    ASSERT_FALSE(count.contains("error")) << count;
    EXPECT_TRUE(answer("simulate", c.request).at("equals_count").get<bool>()) << c.request;
    const std::int64_t tiles_m = count["tiles_m"], tiles_n = count["tiles_n"],
                       phases = count["phases"];
    // Whichever block is launched last.
    json last;
    for (std::int64_t row = 0; row < tiles_m; ++row) {
      for (std::int64_t column = 0; column < tiles_n; ++column) {
        json step =
            answer("step", c.request + "&at=" + std::to_string(row) + "," + std::to_string(column) +
                               "&phase=" + std::to_string(phases - 1) + "&moment=empty");
        if (step["index"] == tiles_m * tiles_n - 1) last = step;
      }
    }
    ASSERT_TRUE(last.is_object()) << c.request;
    EXPECT_EQ(last["product"]["naive"], count["naive"]);
    for (std::size_t level = 0; level < count["levels"].size(); ++level) {
      EXPECT_EQ(last["product"]["levels"][level]["reads_a"], count["levels"][level]["reads_a"]);
      EXPECT_EQ(last["product"]["levels"][level]["reads_b"], count["levels"][level]["reads_b"]);
    }
  }
}

// Up to each block of the launch: what it and those before it have read, added one by one. Clusters
// are launched whole.
TEST(Step, PassesOnePartOfASplitKBeforeTheNext) {
  // 16 tiles of 16 x 16, 8 phases of 8 in 4 parts: phases 0, 1 | 2, 3 | 4, 5 | 6, 7.
  const std::string request =
      "m=64&n=64&k=64&schedule=custom&tile=block:16x16x8&split=4&moment=empty";
  const auto reads = [](const json& step) {
    return std::stoll(step["product"]["levels"][0]["reads"].get<std::string>());
  };
  constexpr long long kPhase = 2 * 16 * 8;  // elements of A and B
  for (int phase = 0; phase < 8; ++phase) {
    const json step = answer("step", request + "&at=0,1&phase=" + std::to_string(phase));
    const int way = phase / 2, passed = phase % 2 + 1;
    EXPECT_EQ(step["index"], 16 * way + 1);
    EXPECT_EQ(step["ways"], 4);
    EXPECT_EQ(reads(step), kPhase * (16 * 2 * way + 2 + passed)) << phase;
  }
  const json last = answer("step", request + "&at=3,3&phase=7");
  EXPECT_EQ(std::to_string(reads(last)),
            answer("count", request)["levels"][0]["reads"].get<std::string>());
}

TEST(Step, DoesNotOrderTheBlocksOfStreamK) {
  const json step = answer("step", "m=64&n=64&k=64&schedule=custom&tile=block:16x16x8&stream_k=1");
  EXPECT_EQ(step["stream_k"], true);
  EXPECT_FALSE(step.contains("product"));
}

TEST(Step, AddsTheBlocksInLaunchOrder) {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    Case c = random_case(random);
    const int cluster_m = 1 + i % 3, cluster_n = 1 + i / 3 % 2;
    c.request += "&cluster=" + std::to_string(cluster_m) + "x" + std::to_string(cluster_n);
    const json count = answer("count", c.request);
    ASSERT_FALSE(count.contains("error")) << count;
    const std::int64_t tiles_m = count["tiles_m"], tiles_n = count["tiles_n"];
    std::vector<json> steps(static_cast<std::size_t>(tiles_m * tiles_n));
    for (std::int64_t tile = 0; tile < tiles_m * tiles_n; ++tile) {
      json step = answer("step", c.request + "&at=" + std::to_string(tile / tiles_n) + "," +
                                     std::to_string(tile % tiles_n) + "&phase=" +
                                     std::to_string(count["phases"].get<std::int64_t>() - 1) +
                                     "&moment=empty");
      steps.at(step["index"].get<std::size_t>()) = step;
    }
    std::vector<std::int64_t> sums(count["levels"].size(), 0);
    std::vector<std::pair<std::int64_t, std::int64_t>> clusters;
    for (const json& step : steps) {
      ASSERT_TRUE(step.is_object()) << c.request;
      for (std::size_t level = 0; level < sums.size(); ++level) {
        sums[level] += std::stoll(step["tile"]["levels"][level]["reads"].get<std::string>());
        EXPECT_EQ(step["product"]["levels"][level]["reads"], std::to_string(sums[level]));
      }
      const std::pair cluster(step["row"].get<std::int64_t>() / cluster_m,
                              step["column"].get<std::int64_t>() / cluster_n);
      if (clusters.empty() || clusters.back() != cluster) clusters.push_back(cluster);
    }
    std::sort(clusters.begin(), clusters.end());
    EXPECT_EQ(std::adjacent_find(clusters.begin(), clusters.end()), clusters.end()) << c.request;
  }
}

TEST(Step, CountsLoadsBeforeMultiplications) {
  const std::string request = "m=64&n=64&k=64&tile=block:16x16x8&tile=thread:4x4x0&phase=2&moment=";
  const json load = answer("step", request + "load"),
             multiply = answer("step", request + "multiply");
  EXPECT_EQ(load["tile"]["levels"][0]["reads"], "768");   // 3 phases of 2 x 16 x 8
  EXPECT_EQ(load["tile"]["levels"][1]["reads"], "2048");  // 2 phases of 16 threads x 8 x 8
  EXPECT_EQ(multiply["tile"]["levels"][0]["reads"], "768");
  EXPECT_EQ(multiply["tile"]["levels"][1]["reads"], "3072");
}

// Every element of a block has one owner, clipped and repeated tiles included.
TEST(Inside, ThreadsShareTheBlock) {
  const std::string request =
      "m=50&n=45&k=20&tile=block:40x32x8&tile=warp:20x16x0&tile=thread:4x8x0/2x2&at=1,1";
  const json first = answer("inside", request);
  ASSERT_FALSE(first.contains("error")) << first;
  const std::int64_t height = first["height"], width = first["width"];
  std::vector<int> owners(static_cast<std::size_t>(height * width), 0);
  for (std::int64_t i = 0; i < first["threads_m"].get<std::int64_t>(); ++i) {
    for (std::int64_t j = 0; j < first["threads_n"].get<std::int64_t>(); ++j) {
      const json one =
          answer("inside", request + "&thread=" + std::to_string(i) + "," + std::to_string(j));
      for (const std::int64_t row : one["rows"]) {
        for (const std::int64_t column : one["columns"]) {
          ++owners[static_cast<std::size_t>(row * width + column)];
        }
      }
    }
  }
  EXPECT_THAT(owners, testing::Each(1));
  const json owner = answer("inside", request + "&element=3,9");
  EXPECT_THAT(owner["rows"], testing::Contains(3));
  EXPECT_THAT(owner["columns"], testing::Contains(9));
}

TEST(Barriers, ShowWhatGoesWrong) {
  const std::string request = "m=64&n=64&k=64&schedule=shared_tile&without=";
  EXPECT_EQ(answer("barriers", request + "none")["wrong_elements"], 0);
  for (const char* missing : {"full", "empty"}) {
    const json report = answer("barriers", request + missing);
    EXPECT_GT(report["wrong_elements"].get<int>(), 0);
    EXPECT_THAT(report["first_fault"].get<std::string>(), HasSubstr("shared memory"));
  }
}

TEST(Barriers, EveryScheduleWithABlockNeedsBoth) {
  for (const Schedule& schedule : named_schedules()) {
    if (!stages_in_shared(schedule)) continue;
    for (const char* missing : {"full", "empty"}) {
      const json report =
          answer("barriers", "m=300&n=300&k=600&schedule=" + schedule.name + "&without=" + missing);
      EXPECT_GT(report.value("wrong_elements", 0), 0) << schedule.name << " " << report;
    }
  }
}

// Rung 11 has a block, and reads its operands straight from global memory.
TEST(Barriers, NothingInSharedMemoryNeedsNone) {
  EXPECT_FALSE(answer("count", "schedule=wmma&type=bf16").at("staged").get<bool>());
  EXPECT_TRUE(answer("count", "schedule=mma&type=bf16").at("staged").get<bool>());
  EXPECT_EQ(answer("count", "schedule=wmma&type=bf16")["levels"][1]["reads_from"], "global");
  EXPECT_THAT(error_of("barriers", "schedule=wmma&type=bf16"), HasSubstr("stages nothing"));
}

TEST(Estimate, NamesTheSizesThatNoAddressReaches) {
  const std::string large = "m=1099511627776&n=8&k=1099511627776";
  EXPECT_FALSE(answer("count", large).contains("error"));
  for (const char* kind : {"estimate", "order"}) {
    EXPECT_THAT(error_of(kind, large),
                HasSubstr("m is 1099511627776 and k is 1099511627776, so that A is larger"));
  }
}

// What the page says of a kernel is what a run says.
TEST(Kernel, RefusesWhatARunRefuses) {
  for (const char* request :
       {"schedule=square_tile", "schedule=square_tile&split=3", "schedule=mma&type=f64",
        "schedule=square_tile&type=bf16",
        "schedule=square_tile&tile=block:100x100x8&tile=thread:8x8",
        "schedule=wgmma&type=bf16&machine=a100", "schedule=mma&type=bf16&stages=1",
        "schedule=mma&type=bf16&kernel=nothing"}) {
    const auto parsed = parse_request(request, library());
    ASSERT_TRUE(parsed);
    const auto& kernels = library().kernels;
    auto run =
        check_needs(kernels, parsed->problem, parsed->schedule, parsed->machine->architecture);
    if (run) run = check_honoured(kernels, parsed->schedule, named_schedules());
    EXPECT_EQ(answer("kernel", request)["refusal"], run ? "" : run.error().message) << request;
  }
}

TEST(Kernel, IsFoundForAScheduleThatNamesNone) {
  const std::string tiles = "schedule=custom&tile=block:64x64x16&tile=thread:8x4";
  const json found = answer("kernel", tiles);
  EXPECT_EQ(found["kernel"], "square_tile");
  EXPECT_EQ(found["file"], "ladder/05_square_tile.cuh");
  EXPECT_EQ(found["named"], false);
  EXPECT_EQ(answer("count", tiles)["kernel"], "");
  const json none = answer("kernel", tiles + "&swap_ab=1");
  EXPECT_TRUE(none["file"].is_null());
  EXPECT_THAT(none["refusal"].get<std::string>(), HasSubstr("no kernel has it"));
}

// Of a schedule's own: nothing of a named one is in it.
TEST(Request, CustomStartsFromNothing) {
  const auto parsed = parse_request("schedule=custom&stages=3", library());
  ASSERT_TRUE(parsed);
  Schedule expected;
  expected.stages = 3;
  EXPECT_EQ(parsed->schedule, expected);
}

TEST(Step, SaysHowManyBlocksAreWalked) {
  const json step = answer("step", "m=1048576&n=1048576&k=64");
  EXPECT_FALSE(step.contains("product"));
  EXPECT_EQ(step["most_walked"], 1 << 18);
  EXPECT_FALSE(answer("step", "m=64&n=64&k=64").contains("most_walked"));
}

// At least two phases are run, so that the second barrier guards something; a block for which that
// takes too long is refused.
TEST(Barriers, RunTwoPhasesOrNone) {
  const std::string request = "m=999&n=999&k=999&without=empty&tile=block:";
  EXPECT_GT(answer("barriers", request + "256x256x256")["wrong_elements"], 0);
  EXPECT_THAT(error_of("barriers", request + "512x512x512"), HasSubstr("too large"));
}

// The launch that is drawn is the one whose DRAM reads are estimated: clusters and split K too.
TEST(Order, IsTheEstimatesLaunch) {
  for (const char* fields : {"schedule=wgmma_pipeline", "schedule=wgmma_pipeline&cluster=2x2",
                             "schedule=mma&split=3", "schedule=mma&order=hilbert"}) {
    const std::string request = std::string("m=5000&n=3000&k=2048&type=bf16&") + fields;
    const auto parsed = parse_request(request, library());
    ASSERT_TRUE(parsed);
    const auto e = estimate(parsed->problem, parsed->schedule, *parsed->machine);
    ASSERT_TRUE(e) << e.error().message;
    const Order& order = parsed->schedule.order;
    const json drawn = answer("order", request + "&orders=" + std::string(to_string(order.kind)) +
                                           ":" + std::to_string(order.group) +
                                           (order.axis == Order::Axis::n ? ":n" : ":m"));
    ASSERT_FALSE(drawn.contains("error")) << drawn;
    const auto& rows = e->traffic.rows;
    const auto dram = std::find_if(rows.begin(), rows.end(), [](const TrafficRow& row) {
      return row.level == "dram" && row.operand == Operand::a;  // A and B together
    });
    ASSERT_NE(dram, rows.end());
    EXPECT_NEAR(drawn["orders"][0]["dram_bytes"].get<double>(), dram->value.to_double(), 1)
        << fields;
  }
}

TEST(Order, WavesSumToTheWhole) {
  const json answered =
      answer("order", "m=4096&n=4096&k=4096&type=bf16&schedule=mma&orders=row,grouped:8");
  ASSERT_FALSE(answered.contains("error")) << answered;
  for (const json& order : answered["orders"]) {
    double sum = 0;
    for (const json& bytes : order["dram_by_wave"]) sum += bytes.get<double>();
    EXPECT_NEAR(sum, order["dram_bytes"].get<double>(), 1);
    std::vector<int> tiles = order["tiles"];
    std::sort(tiles.begin(), tiles.end());
    std::vector<int> all(tiles.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(tiles, all);
  }
}

TEST(Banks, CostsOfKnownAccesses) {
  const std::string column =
      "banks_pattern=column&banks_rows=32&banks_columns=32&banks_bytes=4&type=f32&banks_layout=";
  EXPECT_EQ(answer("banks", column + "plain")["wavefronts"], 32);
  EXPECT_EQ(answer("banks", column + "pad:1")["wavefronts"], 1);
  const std::string chunks =
      "banks_pattern=column&banks_rows=64&banks_columns=64&banks_bytes=16&type=bf16&banks_layout=";
  EXPECT_EQ(answer("banks", chunks + "plain")["wavefronts"], 32);
  EXPECT_EQ(answer("banks", chunks + "swizzle:128")["conflicts"], 0);
}

}  // namespace
}  // namespace tilewise::web
