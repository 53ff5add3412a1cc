#include "gpu/choose_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewise/estimate.h"
#include "tilewise/machine.h"

namespace tilewise::gpu {
namespace {

Problem odd_pitches(Type type) {
  Problem p = make_problem(1024, 1024, 1024, type);
  ++p.a.row;
  return p;
}

TEST(ChooseSchedule, TakesBulkCopiesWhereTheyCanBeMade) {
  const Problem p = make_problem(1024, 1024, 1024, Type::bf16);
  EXPECT_EQ(choose_schedule(p, "sm_90a").value().name, "wgmma_pipeline");
  EXPECT_EQ(choose_schedule(odd_pitches(Type::bf16), "sm_90a").value().name, "mma");
  EXPECT_EQ(choose_schedule(p, "sm_80").value().kernel, "mma");
}

TEST(ChooseSchedule, WhatItTakesFitsInSharedMemory) {
  for (const Machine& machine : named_machines()) {
    if (machine.device != Device::gpu) continue;
    for (const Type type : {Type::f32, Type::bf16, Type::f16}) {
      SCOPED_TRACE(machine.name + " " + std::string(to_string(type)));
      const Problem p = odd_pitches(type);
      const Schedule chosen = choose_schedule(p, machine.architecture).value();
      EXPECT_LE(footprint(p, chosen).value().block.shared_bytes,
                machine.limits.shared_bytes_per_block);
    }
  }
  EXPECT_EQ(choose_schedule(odd_pitches(Type::bf16), "sm_90a").value().stages, 4);
  EXPECT_EQ(choose_schedule(odd_pitches(Type::bf16), "sm_80").value().stages, 3);
}

TEST(ChooseSchedule, ATypeWithoutAKernelIsAnError) {
  const auto chosen = choose_schedule(make_problem(8, 8, 8, Type::f64), "sm_90a");
  ASSERT_FALSE(chosen.has_value());
  EXPECT_THAT(chosen.error().message, testing::HasSubstr("no GPU kernel multiplies f64"));
}

}  // namespace
}  // namespace tilewise::gpu
