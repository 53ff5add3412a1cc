#include "schedule/honours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/kernel_files.h"

namespace tilewise {
namespace {

using ::testing::HasSubstr;

const KernelFiles kFiles = {
    {"ladder/05_square_tile.cuh", "// 05  square_tile\n// Honours   tiles: block, thread\n"},
    {"ladder/14_pipeline.cuh",
     "// 14  pipeline\n// Honours   block cluster stages split_k (second pass)\n"},
    {"parts/ptx.cuh", "// Honours   everything\n"}};

Schedule square() {
  Schedule s;
  s.name = s.kernel = "square_tile";
  s.tiles = {{.level = Level::block, .m = 128, .n = 128, .k = 8},
             {.level = Level::thread, .m = 8, .n = 8}};
  return s;
}

TEST(Honours, DefaultsSetNothingButTiles) {
  EXPECT_TRUE(set_fields(Schedule{}).empty());
  EXPECT_EQ(set_fields(square()).size(), 2u);
  EXPECT_TRUE(check_honoured(kFiles, square(), {}).has_value());
}

TEST(Honours, ARefusalNamesFieldValueAndAKernelThatHasIt) {
  Schedule s = square();
  s.split_k.ways = 4;
  const auto refused = check_honoured(kFiles, s, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::bad_request);
  EXPECT_EQ(
      refused.error().message,
      "schedule: split_k is 4 ways, which kernel \"square_tile\" does not have; take one that "
      "has: pipeline");
  s = square();
  s.swap_ab = true;
  EXPECT_THAT(check_honoured(kFiles, s, {}).error().message, HasSubstr("no kernel has it"));
}

TEST(Honours, EveryFieldThatIsSetIsSeen) {
  const auto refused = [](auto change) {
    Schedule s = square();
    change(s);
    return !check_honoured(kFiles, s, {}).has_value();
  };
  EXPECT_TRUE(refused([](Schedule& s) { s.tiles[1].repeat_m = 2; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.tiles[1].level = Level::warp; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.cluster.m = 2; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.stages = 2; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.copy = Copy::cp_async; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.vector_bytes.shared_b = 16; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.shared_layout = {SharedLayout::Kind::pad, 4}; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.order.kind = Order::Kind::hilbert; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.stream_k = true; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.persistent = true; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.consumers = Consumers::ping_pong; }));
  EXPECT_TRUE(refused([](Schedule& s) { s.promote_every = 128; }));
}

TEST(Honours, WhatTheKernelAlwaysDoesIsAccepted) {
  Schedule s = square();
  s.copy = Copy::bulk;
  s.stages = 3;
  const Schedule named[] = {s};
  EXPECT_TRUE(check_honoured(kFiles, s, named).has_value());
  s.stages = 4;
  EXPECT_FALSE(check_honoured(kFiles, s, named).has_value());
}

TEST(Honours, TypesComeFromTheNeedsLine) {
  using Types = std::vector<Type>;
  EXPECT_EQ(kernel_types("sm_80; float32; any M, N, K"), Types{Type::f32});
  EXPECT_EQ(kernel_types("sm_80; bf16, f16, or float as tf32"),
            (Types{Type::f32, Type::bf16, Type::f16}));
  EXPECT_EQ(kernel_types("sm_90a; any D"), (Types{Type::bf16, Type::f16}));
  EXPECT_EQ(kernel_types("sm_90a; e4m3, nt alone"), Types{Type::f8e4m3});
}

TEST(Honours, TensorCoresMultiplyFloat32AsTf32Alone) {
  using Types = std::vector<Type>;
  const std::string_view needs = "sm_80; bf16, f16, or float as tf32";
  Schedule s;
  s.tiles = {{.level = Level::instruction, .m = 16, .n = 8, .k = 16}};
  EXPECT_EQ(schedule_types(s, needs), (Types{Type::bf16, Type::f16}));
  s.compute = Compute::tf32;
  EXPECT_EQ(schedule_types(s, needs), Types{Type::f32});
  EXPECT_EQ(schedule_types(square(), "sm_80; float32"), Types{Type::f32});
}

TEST(Honours, ARefusalOfATypeNamesKernelsThatTakeIt) {
  const KernelFiles files = {{"ladder/05_square_tile.cuh", "// 05\n// Needs     sm_80; float32\n"},
                             {"ladder/14_pipeline.cuh", "// 14\n// Needs     sm_90a; bf16\n"}};
  const Problem half = make_problem(8, 8, 8, Type::bf16);
  EXPECT_EQ(
      check_needs(files, half, square(), "sm_90a").error().message,
      "schedule: kernel \"square_tile\" with compute f32 does not multiply bf16; take one that "
      "does: pipeline");
  Schedule s;
  s.kernel = "pipeline";
  EXPECT_TRUE(check_needs(files, half, s, "sm_90a").has_value());
  EXPECT_EQ(check_needs(files, half, s, "sm_80").error().code, ErrorCode::missing_capability);
}

TEST(Honours, MatchesWholeWords) {
  const SetField field{"order", "hilbert 1", {"order"}};
  EXPECT_TRUE(honours("block, order; stages", field));
  EXPECT_FALSE(honours("reorder order_axis", field));
  EXPECT_FALSE(honours("", field));
}

// What the files themselves say agrees with the schedules that run them.
TEST(Honours, EveryNamedScheduleIsTakenByItsKernel) {
  const KernelFiles files = gpu::kernel_files().value();
  for (const Schedule& s : named_schedules()) {
    if (s.device != Device::gpu) continue;
    const auto taken = check_honoured(files, s, named_schedules());
    EXPECT_TRUE(taken.has_value()) << taken.error().message;
  }
}

std::string refusal(const Schedule& s) {
  const auto taken = check_honoured(gpu::kernel_files().value(), s, named_schedules());
  return taken ? "" : taken.error().message;
}

TEST(Honours, ALineIsAlsoAskedForItsConditions) {
  Schedule s = square();
  s.kernel = "shared_tile";
  EXPECT_EQ(refusal(s),
            "schedule: thread tile is 8 x 8, and kernel \"shared_tile\" takes thread 1 x 1; change "
            "it, or take another kernel");
  s.kernel = "column_tile";
  EXPECT_THAT(refusal(s), HasSubstr("takes thread (n = 1)"));
  s.kernel = "vector_loads";
  EXPECT_THAT(refusal(s), HasSubstr("vector_bytes of shared memory is 0 x 0"));
  Schedule one = find_schedule("mma").value();
  one.stages = 1;
  EXPECT_THAT(refusal(one), HasSubstr("stages is 1"));
}

TEST(Honours, AKernelsLevelsHaveTiles) {
  Schedule s = square();
  s.tiles.pop_back();
  EXPECT_THAT(refusal(s),
              HasSubstr("thread tile is not set, and kernel \"square_tile\" needs one"));
  s = square();
  s.tiles[0].k = 0;
  EXPECT_THAT(refusal(s), HasSubstr("block tile is 128 x 128 x 0"));
}

TEST(Honours, TilesAreWhole) {
  Schedule s = square();
  s.tiles[1].n = 6;
  EXPECT_EQ(refusal(s),
            "schedule: thread tile is 8 x 6, which does not divide the block tile of 128 x 128; "
            "kernels have whole tiles inside a tile: change one of the two");
  s = find_schedule("warp_tile").value();
  EXPECT_EQ(refusal(s), "");
  s.tiles.back().m = 4;
  EXPECT_THAT(refusal(s), HasSubstr("64 thread tiles of 4 x 8"));
}

TEST(Honours, FindsTheKernelThatRunsAScheduleWithout) {
  const KernelFiles files = gpu::kernel_files().value();
  const Problem p = make_problem(64, 64, 64);
  const auto found = [&](const Schedule& s) {
    return kernel_that_runs(files, p, s, "sm_90a", named_schedules());
  };
  Schedule s = square();
  s.kernel.clear();
  EXPECT_EQ(found(s).value(), "square_tile");
  s.tiles[1].n = 1;
  EXPECT_EQ(found(s).value(), "column_tile");
  s.tiles[1].n = 6;
  EXPECT_THAT(found(s).error().message, HasSubstr("which does not divide"));
  s = square();
  s.split_k.ways = 4;
  EXPECT_THAT(found(s).error().message, HasSubstr("kernel \"tuned_f32\" needs one of m x n"));
  s = square();
  s.swap_ab = true;
  EXPECT_THAT(found(s).error().message, HasSubstr("no kernel has it"));
  const Problem f64 = make_problem(8, 8, 8, Type::f64);
  EXPECT_THAT(kernel_that_runs(files, f64, square(), "sm_90a", {}).error().message,
              HasSubstr("does not multiply f64; no GPU kernel does"));
}

TEST(Needs, RungElevenRefusesPitchesThatItsLoadsCannotTake) {
  const KernelFiles files = gpu::kernel_files().value();
  const Schedule wmma = find_schedule("wmma").value();
  Problem p = make_problem(17, 24, 40, Type::bf16);
  EXPECT_TRUE(check_needs(files, p, wmma, "sm_90a").has_value());
  p.a.row = 41;
  EXPECT_EQ(check_needs(files, p, wmma, "sm_90a").error().message,
            "matmul: A has a pitch of 41 bf16 elements, not a multiple of 8, which kernel \"wmma\" "
            "needs; pad to 48, or take schedule \"mma\"");
  p = make_problem(17, 24, 40, Type::bf16);
  p.b = {2, 80, 0};
  EXPECT_THAT(check_needs(files, p, wmma, "sm_90a").error().message,
              HasSubstr("none of them is 1"));
  p = make_problem(17, 24, 40, Type::bf16);
  p.batch = 2;
  p.a.batch = 17 * 40 + 4;
  EXPECT_THAT(check_needs(files, p, wmma, "sm_90a").error().message,
              HasSubstr("batch stride of 684 bf16 elements, not a multiple of 32 bytes"));
  EXPECT_EQ(needed_base_bytes(header_line(files.at("ladder/11_wmma.cuh"), "Needs")), 32);
  EXPECT_EQ(needed_base_bytes(header_line(files.at("ladder/12_mma.cuh"), "Needs")), 1);
}

}  // namespace
}  // namespace tilewise
