#include "gpu/kernel_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;

TEST(KernelFiles, AreEmbeddedByTheirNamesInsideKernels) {
  const auto files = kernel_files();
  ASSERT_TRUE(files.has_value()) << files.error().message;
  ASSERT_TRUE(files->contains("parts/arguments.cuh"));
  EXPECT_THAT(files->at("parts/arguments.cuh"), HasSubstr("struct KernelArguments"));
}

TEST(KernelFiles, AFolderReplacesTheEmbeddedOnes) {
  const std::string folder = testing::TempDir() + "tilewise_kernels";
  std::filesystem::create_directories(folder + "/ladder");
  std::ofstream(folder + "/ladder/98_probe.cuh") << "// 98  probe\n";
  setenv("TILEWISE_KERNELS", folder.c_str(), 1);
  const auto files = kernel_files();
  setenv("TILEWISE_KERNELS", "/nonexistent/kernels", 1);
  const auto missing = kernel_files();
  unsetenv("TILEWISE_KERNELS");
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(files->size(), 1u);
  EXPECT_TRUE(files->contains("ladder/98_probe.cuh"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent/kernels"));
}

TEST(KernelFiles, TheClosureFollowsIncludesOnce) {
  const KernelFiles files = {{"a.cuh", "#include \"b.cuh\"\n#include \"c.cuh\"\n"},
                             {"b.cuh", "#pragma once\n#include \"c.cuh\"\n"},
                             {"c.cuh", "// no \"#include\" here: #include \"d.cuh\"\n"},
                             {"d.cuh", ""}};
  const auto closure = include_closure(files, "a.cuh");
  ASSERT_TRUE(closure.has_value());
  ASSERT_EQ(closure->size(), 3u);
  EXPECT_EQ((*closure)[0].name, "a.cuh");
  const auto broken = include_closure({{"a.cuh", "#include \"x.cuh\"\n"}}, "a.cuh");
  ASSERT_FALSE(broken.has_value());
  EXPECT_THAT(broken.error().message, HasSubstr("\"x.cuh\""));
}

}  // namespace
}  // namespace tilewise::gpu
