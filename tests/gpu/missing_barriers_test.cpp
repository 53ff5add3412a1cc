// Rung 03 without one of its barriers (missing_barriers.cuh) still compiles, so the
// two variants stay beside the rung as it changes. That their results are wrong needs a GPU.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "gpu/compile.h"
#include "gpu/kernel_files.h"
#include "gpu/translation_unit.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {
namespace {

// The variants as kernel files of their own, beside the product's.
KernelFiles files_with(const std::string& kernel) {
  std::ifstream file(TILEWISE_MISSING_BARRIERS);
  std::ostringstream text;
  text << file.rdbuf();
  KernelFiles files = kernel_files().value();
  files["ladder/99_" + kernel + ".cuh"] = text.str();
  return files;
}

class MissingBarrier : public testing::TestWithParam<std::string> {};

TEST_P(MissingBarrier, Compiles) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  const Problem problem = make_problem(128, 128, 128, Type::f32);
  Schedule schedule = find_schedule("shared_tile").value();
  schedule.kernel = GetParam();
  const auto unit = write_translation_unit(files_with(GetParam()), problem, schedule,
                                           make_constants(problem, schedule));
  ASSERT_TRUE(unit.has_value()) << unit.error().message;
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    const auto kernel = compile_unit(*unit, architecture);
    ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
    EXPECT_EQ(kernel->launch.threads, 1024);
    EXPECT_EQ(kernel->resources.spill_store_bytes, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, MissingBarrier,
                         testing::Values("missing_first_barrier", "missing_second_barrier"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tilewise::gpu
