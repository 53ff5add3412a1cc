#include "parts/swizzle.cuh"

#include <gtest/gtest.h>

#include <set>

namespace tilewise {
namespace {

// The documented 128-byte pattern: chunk c of line r lies at chunk c ^ (r % 8).
TEST(Swizzle, Moves16ByteChunksByTheLineNumber) {
  for (int line = 0; line < 16; ++line) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      const int offset = 128 * line + 16 * chunk + 5;
      EXPECT_EQ(swizzle(128, offset), 128 * line + 16 * (chunk ^ (line % 8)) + 5);
      EXPECT_EQ(swizzle(64, offset), 128 * line + 16 * (chunk ^ (line % 4)) + 5);
      EXPECT_EQ(swizzle(32, offset), 128 * line + 16 * (chunk ^ (line % 2)) + 5);
      EXPECT_EQ(swizzle(0, offset), offset);
    }
  }
}

TEST(Swizzle, IsItsOwnInverseAndPeriodic) {
  for (const int width : {0, 32, 64, 128}) {
    const int period = swizzle_period_bytes(width);
    for (int offset = 0; offset < 2048; ++offset) {
      EXPECT_EQ(swizzle(width, swizzle(width, offset)), offset);
      EXPECT_EQ(swizzle(width, offset + period), swizzle(width, offset) + period);
    }
  }
}

// A column of 16-byte chunks over eight rows: one bank group without, all banks with the swizzle.
// Rows as long as the swizzle is wide.
TEST(Swizzle, SpreadsAColumnOverTheBanks) {
  for (const int width : {32, 64, 128}) {
    std::set<int> plain, swizzled;
    for (int row = 0; row < 8; ++row) {
      plain.insert(shared_bank(shared_offset(row, 16, width, 0, 0)));
      swizzled.insert(shared_bank(shared_offset(row, 16, width, 0, width)));
    }
    EXPECT_EQ(plain.size(), static_cast<std::size_t>(128 / width));
    EXPECT_EQ(swizzled.size(), 8u);
  }
}

TEST(Swizzle, PadShiftsEachRow) {
  EXPECT_EQ(shared_offset(3, 8, 128, 16, 0), 3 * 144 + 8);
  EXPECT_EQ(shared_bank(shared_offset(1, 0, 128, 4, 0)), 1);
}

}  // namespace
}  // namespace tilewise
