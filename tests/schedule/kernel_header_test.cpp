#include "schedule/kernel_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewise {
namespace {

using ::testing::HasSubstr;

TEST(KernelHeader, NamesDropTheRung) {
  EXPECT_EQ(kernel_name("ladder/05_square_tile.cuh"), "square_tile");
  EXPECT_EQ(kernel_name("hopper/grouped.cuh"), "grouped");
  EXPECT_EQ(kernel_name("parts/ptx.cuh"), "");
}

TEST(KernelHeader, AnUnknownKernelNamesTheKnownOnes) {
  const KernelFiles files = {{"ladder/01_naive.cuh", ""}, {"parts/ptx.cuh", ""}};
  EXPECT_EQ(find_kernel_file(files, "naive").value(), "ladder/01_naive.cuh");
  const auto missing = find_kernel_file(files, "ptx");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("there are naive"));
}

TEST(KernelHeader, HeaderLinesJoinTheirContinuation) {
  const std::string_view text =
      "// 05  probe\n"
      "// Idea      one\n"
      "//           two\n"
      "// Honours   block thread\n"
      "//           stages\n"
      "// Uses      x\n"
      "#pragma once\n"
      "// Limits    not in the header\n";
  EXPECT_EQ(header_line(text, "Idea"), "one two");
  EXPECT_EQ(header_line(text, "Honours"), "block thread stages");
  EXPECT_EQ(header_line(text, "Limits"), "");
}

}  // namespace
}  // namespace tilewise
