// schedules/packed_*.json: one for each target and type, accepted and run as they are.
#include <gtest/gtest.h>

#include <string>

#include "cpu/packed_schedule.h"
#include "cpu/product_case.h"
#include "cpu/targets.h"

namespace tilewise::cpu {
namespace {

TEST(NamedSchedules, EveryTargetHasItsOwn) {
  for (const KernelTable* table : compiled_targets()) {
    for (const Type type : {Type::f32, Type::f64}) {
      const std::string name =
          "packed_" + std::string(table->target) + "_" + std::string(to_string(type));
      const auto schedule = find_schedule(name);
      ASSERT_TRUE(schedule) << schedule.error().message;
      const Tile* tile = find_tile(*schedule, Level::register_tile);
      ASSERT_NE(tile, nullptr);
      EXPECT_EQ(tile->m, type == Type::f64 ? table->f64.mr : table->f32.mr) << name;
      EXPECT_EQ(tile->n, type == Type::f64 ? table->f64.nr : table->f32.nr) << name;
      EXPECT_EQ(find_tile(*schedule, Level::kc)->k, kBlockOfK) << name;
      if (!is_supported(table->target)) continue;
      const testing::ProductCase p{.m = 70, .n = 90, .k = 300, .a = type, .b = type, .d = type};
      testing::ProductData data(p);
      const auto plan = testing::prepare_cpu(data.problem, table->target, 2, &*schedule);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(plan->schedule(), *schedule) << "a schedule that was given is taken as it is";
      ASSERT_TRUE(plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
      testing::check_product(p, data);
    }
  }
}

TEST(NamedSchedules, RunOnTheirOwnTargetUnasked) {
  for (const char* target : {"sse4", "avx2", "avx512", "neon"}) {
    for (const Type type : {Type::f32, Type::f64}) {
      const auto schedule =
          find_schedule("packed_" + std::string(target) + "_" + std::string(to_string(type)));
      ASSERT_TRUE(schedule) << schedule.error().message;
      testing::ProductData data({.m = 7, .n = 9, .k = 30, .a = type, .b = type, .d = type});
      const auto plan = testing::prepare_cpu(data.problem, "", 1, &*schedule);
      if (choose_target(target)) {
        ASSERT_TRUE(plan) << plan.error().message;
        EXPECT_EQ(plan->target(), target);
      } else {
        ASSERT_FALSE(plan) << target;
        EXPECT_EQ(plan.error().code, ErrorCode::missing_capability);
        EXPECT_NE(plan.error().message.find(schedule->name), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace tilewise::cpu
