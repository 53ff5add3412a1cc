// The calibration kernel compiles and its machine code has the instructions that its patterns name,
// in their order, so that a profiler's counts can be put beside them one by one.
#include "gpu/shared_patterns.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "gpu/compile.h"
#include "kernels/disassembler.h"

namespace tilewise::gpu {
namespace {

TEST(SharedPatterns, AreAsManyAsTheKernelReads) {
  std::map<std::string, int> count;
  for (const SharedPattern& pattern : shared_patterns()) {
    ++count[pattern.instruction + " " + std::to_string(pattern.access.width_bytes)];
  }
  const std::map<std::string, int> expected = {
      {"STS 4", 6}, {"STS.128 16", 8}, {"LDGSTS 4", 4},    {"LDGSTS 16", 28},
      {"LDS 4", 8}, {"LDS.64 8", 12},  {"LDS.128 16", 24}, {"LDSM 16", 4}};
  EXPECT_EQ(count, expected);
}

TEST(SharedPatterns, StayInsideTheKernelsMemory) {
  constexpr std::int64_t kBytes = 32768;
  for (const SharedPattern& pattern : shared_patterns()) {
    for (const std::int64_t offset : pattern.access.offsets) {
      EXPECT_GE(offset, 0);
      EXPECT_LE(offset + pattern.access.width_bytes, kBytes) << pattern.name;
      EXPECT_EQ(offset % pattern.access.width_bytes, 0) << pattern.name;
    }
    EXPECT_GT(pattern.wavefronts, 0) << pattern.name;
  }
}

TEST(SharedPatterns, StandInTheMachineCodeInTheirOrder) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  const auto unit = patterns_unit();
  ASSERT_TRUE(unit.has_value()) << unit.error().message;
  const auto kernel = compile_unit(*unit, "sm_90a");
  ASSERT_TRUE(kernel.has_value()) << kernel.error().message;
  const auto nvdisasm = find_nvdisasm();
  if (!nvdisasm) GTEST_SKIP() << nvdisasm.error().message;
  const auto listing = disassemble(*nvdisasm, kernel->cubin);
  ASSERT_TRUE(listing.has_value()) << listing.error().message;
  // Lines are `/*0040*/   LDS.128 R4, [R2] ;`; `@!PT LDS` does nothing.
  const std::regex line(R"(\*/ +(STS|LDGSTS|LDSM|LDS)([A-Z0-9.]*) )");
  std::vector<std::string> found;
  for (auto i = std::sregex_iterator(listing->begin(), listing->end(), line);
       i != std::sregex_iterator(); ++i) {
    found.push_back((*i)[1].str() + (*i)[2].str());
  }
  const std::vector<SharedPattern> patterns = shared_patterns();
  ASSERT_EQ(found.size(), patterns.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_TRUE(found[i].starts_with(patterns[i].instruction)) << found[i] << " " << i;
    const bool wide = found[i].find("128") != std::string::npos;
    if (patterns[i].instruction == "LDGSTS") {
      EXPECT_EQ(wide, patterns[i].access.width_bytes == 16) << i;
    }
  }
}

}  // namespace
}  // namespace tilewise::gpu
