// Rung 03 without one of its barriers (missing_barriers.cuh) still compiles, so that the two
// variants stay beside the rung as it changes, and on a GPU its results are wrong. That the race
// checker finds both is in sanitize.sh.
#include <gtest/gtest.h>

#include "gpu/broken_rung.h"
#include "gpu/compile.h"
#include "gpu/device.h"

namespace tilewise::gpu {
namespace {

class MissingBarrier : public testing::TestWithParam<std::string> {};

TEST_P(MissingBarrier, Compiles) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  const auto unit = broken_rung_unit(GetParam());
  ASSERT_TRUE(unit.has_value()) << unit.error().message;
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    const auto kernel = compile_unit(*unit, architecture);
    ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
    EXPECT_EQ(kernel->launch.threads, 1024);
    EXPECT_EQ(kernel->resources.spill_store_bytes, 0);
  }
}

TEST_P(MissingBarrier, GivesWrongResults) {
  if (const auto devices = gpu_devices(); !devices) GTEST_SKIP() << devices.error().message;
  const auto results = run_broken_rung(GetParam());
  ASSERT_TRUE(results.has_value()) << results.error().message;
  EXPECT_GT(results->wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Both, MissingBarrier,
                         testing::Values("missing_first_barrier", "missing_second_barrier"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tilewise::gpu
