#include "gpu/translation_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/probe_kernel.h"

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TranslationUnit, ConstantsComeFromTheSchedule) {
  Schedule s = probe_schedule();
  s.tiles = {{.level = Level::block, .m = 128, .n = 64, .k = 16},
             {.level = Level::warp, .m = 64, .n = 32},
             {.level = Level::thread, .m = 8, .n = 4, .repeat_m = 2}};
  s.cluster = {2, 1};
  s.stages = 3;
  s.shared_layout = {SharedLayout::Kind::swizzle, 128};
  s.order = {Order::Kind::grouped, 8, Order::Axis::n};
  s.split_k = {4, SplitK::Reduce::atomic};
  s.consumers = Consumers::ping_pong;
  s.promote_every = 128;
  const Constants c = make_constants(make_problem(64, 64, 64), s);
  EXPECT_EQ(c.block_m, 128);
  EXPECT_EQ(c.block_k, 16);
  EXPECT_EQ(c.warp_n, 32);
  EXPECT_EQ(c.thread_n, 4);
  EXPECT_EQ(c.repeat_m, 2);
  EXPECT_EQ(c.cluster_m, 2);
  EXPECT_EQ(c.stages, 3);
  EXPECT_EQ(c.swizzle_bytes, 128);
  EXPECT_EQ(c.pad_elements, 0);
  EXPECT_EQ(c.order, 2);
  EXPECT_EQ(c.order_group, 8);
  EXPECT_EQ(c.order_axis, 1);
  EXPECT_EQ(c.split_k, 4);
  EXPECT_TRUE(c.split_atomic);
  EXPECT_TRUE(c.ping_pong);
  EXPECT_EQ(c.promote_every, 128);
}

TEST(TranslationUnit, LayoutComesFromTheProblem) {
  Problem p = make_problem(64, 64, 64);
  Constants c = make_constants(p, probe_schedule());
  EXPECT_TRUE(c.a_k_major);
  EXPECT_FALSE(c.b_k_major);
  EXPECT_TRUE(c.aligned_16);
  EXPECT_EQ(c.d_bytes, 4);
  EXPECT_FALSE(make_constants(p, probe_schedule(), false).aligned_16);
  p.a = {.row = 1, .column = 64};
  p.b = {.row = 1, .column = 66};
  c = make_constants(p, probe_schedule());
  EXPECT_FALSE(c.a_k_major);
  EXPECT_TRUE(c.b_k_major);
  EXPECT_FALSE(c.aligned_16) << "columns of B are 264 bytes apart";
  Problem loose = make_problem(64, 64, 64);
  loose.a = {.row = 256, .column = 4};
  EXPECT_FALSE(make_constants(loose, probe_schedule()).aligned_16)
      << "no dimension of A is contiguous";
  EXPECT_FALSE(make_constants(loose, probe_schedule()).a_k_major);
}

TEST(TranslationUnit, PrintsOnlyWhatDiffersFromTheDefaults) {
  EXPECT_EQ(print_constants({}), "{}");
  EXPECT_EQ(print_constants({.block_m = 8, .split_atomic = true, .aligned_16 = false}),
            "{.block_m = 8, .split_atomic = true, .aligned_16 = false}");
}

TEST(TranslationUnit, NamesKernelTypeAndSchedule) {
  Problem p = make_problem(8, 8, 8, Type::bf16);
  p.type_d = Type::f32;
  const Schedule s = probe_schedule();
  const auto unit = write_translation_unit(probe_files(), p, s, make_constants(p, s));
  ASSERT_TRUE(unit.has_value()) << unit.error().message;
  EXPECT_THAT(unit->source.text, HasSubstr("#include \"ladder/98_probe.cuh\""));
  EXPECT_THAT(unit->source.text,
              HasSubstr("probe<kSchedule, bf16, GeneratedEpilogue>(arguments);"));
  EXPECT_THAT(unit->source.text, HasSubstr("using Output = float;"));
  EXPECT_THAT(unit->source.text, Not(HasSubstr("TensorMaps")));
  Schedule bulk = s;
  bulk.copy = Copy::bulk;
  const auto with_maps = write_translation_unit(probe_files(), p, bulk, make_constants(p, bulk));
  EXPECT_THAT(with_maps->source.text, HasSubstr("(arguments, maps);"));
}

TEST(TranslationUnit, RefusesOperandsOfTwoTypes) {
  Problem p = make_problem(8, 8, 8);
  p.type_b = Type::bf16;
  const Schedule s = probe_schedule();
  const auto unit = write_translation_unit(probe_files(), p, s, make_constants(p, s));
  ASSERT_FALSE(unit.has_value());
  EXPECT_THAT(unit.error().message, HasSubstr("A is f32 and B is bf16"));
}

}  // namespace
}  // namespace tilewise::gpu
