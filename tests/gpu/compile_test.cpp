#include "gpu/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/elf.h"
#include "gpu/kernel_cache.h"
#include "gpu/probe_kernel.h"

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;

TranslationUnit probe_unit(const Problem& problem) {
  const Schedule schedule = probe_schedule();
  return write_translation_unit(probe_files(), problem, schedule, make_constants(problem, schedule))
      .value();
}

TEST(Compile, ReadsTheAssemblersLog) {
  const KernelResources r = parse_resources(
      "ptxas info    : 44 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
      "ptxas info    : Used 255 registers, used 1 barriers\n"
      "ptxas info    : Compiling entry function 'tilewise_kernel' for 'sm_90a'\n"
      "ptxas info    : Function properties for tilewise_kernel\n"
      "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 2 barriers, 4096 bytes smem\n");
  EXPECT_EQ(r.registers, 40);
  EXPECT_EQ(r.barriers, 2);
  EXPECT_EQ(r.stack_bytes, 16);
  EXPECT_EQ(r.spill_store_bytes, 8);
  EXPECT_EQ(r.spill_load_bytes, 12);
  EXPECT_EQ(r.static_shared_bytes, 4096);
  EXPECT_FALSE(r.serialised_wgmma);
  EXPECT_TRUE(parse_resources("info: (C7510) Potential Performance Loss: wgmma").serialised_wgmma);
}

TEST(Compile, GivesMachineCodeResourcesAndLaunch) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    const auto kernel = compile_unit(probe_unit(make_problem(8, 8, 8, Type::bf16)), architecture);
    ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
    EXPECT_EQ(kernel->launch.threads, 256);
    EXPECT_EQ(kernel->launch.shared_bytes, 2468);
    EXPECT_EQ(kernel->launch.tile_n, 32);
    EXPECT_GT(kernel->resources.registers, 8);
    EXPECT_EQ(kernel->resources.spill_store_bytes, 0);
    EXPECT_EQ(kernel->architecture, architecture);
  }
}

TEST(Compile, AnErrorHoldsTheCompilersLog) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  TranslationUnit unit = probe_unit(make_problem(8, 8, 8));
  unit.source.text += "int broken = \"text\";\n";
  const auto kernel = compile_unit(unit, "sm_90a");
  ASSERT_FALSE(kernel.has_value());
  EXPECT_THAT(kernel.error().message, HasSubstr("probe.cu"));
  EXPECT_THAT(kernel.error().message, HasSubstr("error"));
}

TEST(Compile, ADamagedImageHasNoVariables) {
  EXPECT_FALSE(elf_variable("", "x").has_value());
  EXPECT_FALSE(elf_variable("\x7f"
                            "ELF",
                            "x")
                   .has_value());
  EXPECT_FALSE(read_launch_info(std::string(1000, '\x7f')).has_value());
}

TEST(Compile, TheKeyCoversSourceHeadersAndArchitecture) {
  TranslationUnit unit = probe_unit(make_problem(8, 8, 8));
  const std::string key = source_key(unit, "sm_90a");
  EXPECT_EQ(key, source_key(unit, "sm_90a"));
  EXPECT_NE(key, source_key(unit, "sm_80"));
  unit.headers[0].text += " ";
  EXPECT_NE(key, source_key(unit, "sm_90a"));
  EXPECT_EQ(key.size(), 64u);
}

}  // namespace
}  // namespace tilewise::gpu
