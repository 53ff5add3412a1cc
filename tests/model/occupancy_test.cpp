// Worked values, computed with the toolkit's rules; two of them are published figures.
#include "tilewise/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tilewise {
namespace {

using ::testing::HasSubstr;

Limits limits_of(int architecture) {
  Limits l;
  l.registers_per_sm = 65536;
  l.registers_per_thread = 255;
  l.threads_per_block = 1024;
  l.shared_bytes_reserved = 1024;
  switch (architecture) {
    case 80:
      l.shared_bytes_per_sm = 167936, l.warps_per_sm = 64, l.blocks_per_sm = 32;
      break;
    case 86:
      l.shared_bytes_per_sm = 102400, l.warps_per_sm = 48, l.blocks_per_sm = 16;
      break;
    case 89:
    case 120:
      l.shared_bytes_per_sm = 102400, l.warps_per_sm = 48, l.blocks_per_sm = 24;
      break;
    default:
      l.shared_bytes_per_sm = 233472, l.warps_per_sm = 64, l.blocks_per_sm = 32;
      break;
  }
  l.shared_bytes_per_block = l.shared_bytes_per_sm - 1024;
  return l;
}

constexpr std::int64_t kKib = 1024;

TEST(Occupancy, WorkedValues) {
  struct Case {
    BlockResources block;
    std::map<int, std::int64_t> blocks;
  };
  const Case cases[] = {
      {{256, 128, 48 * kKib}, {{80, 2}, {86, 2}, {89, 2}, {90, 2}, {100, 2}, {120, 2}}},
      {{256, 96, 32 * kKib}, {{80, 2}, {86, 2}, {89, 2}, {90, 2}, {100, 2}, {120, 2}}},
      {{128, 255, 64 * kKib}, {{80, 2}, {86, 1}, {89, 1}, {90, 2}, {100, 2}, {120, 1}}},
      {{384, 168, 200 * kKib}, {{80, 0}, {86, 0}, {89, 0}, {90, 1}, {100, 1}, {120, 0}}},
      {{384, 168, 227 * kKib}, {{80, 0}, {86, 0}, {89, 0}, {90, 1}, {100, 1}, {120, 0}}},
      {{288, 64, 20 * kKib}, {{80, 3}, {86, 3}, {89, 3}, {90, 3}, {100, 3}, {120, 3}}},
      {{1024, 64, 0}, {{80, 1}, {86, 1}, {89, 1}, {90, 1}, {100, 1}, {120, 1}}},
      {{1024, 65, 0}, {{80, 0}, {86, 0}, {89, 0}, {90, 0}, {100, 0}, {120, 0}}},
      {{64, 40, 0}, {{80, 24}, {86, 16}, {89, 24}, {90, 24}, {100, 24}, {120, 24}}},
      {{192, 104, 33 * kKib}, {{80, 2}, {86, 2}, {89, 2}, {90, 2}, {100, 2}, {120, 2}}},
      {{256, 144, 82 * kKib}, {{90, 1}}},
  };
  for (const Case& c : cases) {
    for (const auto& [architecture, blocks] : c.blocks) {
      auto result = occupancy(limits_of(architecture), c.block);
      ASSERT_TRUE(result.has_value());
      EXPECT_EQ(result->blocks_per_sm, blocks)
          << c.block.threads << "," << c.block.registers_per_thread << "," << c.block.shared_bytes
          << " on sm_" << architecture;
      EXPECT_EQ(blocks == 0, !exceeded_limits(limits_of(architecture), c.block).empty());
    }
  }
}

TEST(Occupancy, AgreesWithPublishedShares) {
  EXPECT_DOUBLE_EQ(occupancy(limits_of(90), {384, 168, 200 * kKib})->occupancy, 0.1875);
  EXPECT_DOUBLE_EQ(occupancy(limits_of(90), {256, 144, 82 * kKib})->occupancy, 0.125);
}

TEST(Occupancy, NamesTheLimiter) {
  EXPECT_EQ(occupancy(limits_of(90), {256, 128, 0})->limiter, "registers");
  EXPECT_EQ(occupancy(limits_of(90), {128, 32, 100 * kKib})->limiter, "shared memory");
  EXPECT_EQ(occupancy(limits_of(86), {64, 16, 0})->limiter, "blocks");
  EXPECT_EQ(occupancy(limits_of(90), {1024, 16, 0})->limiter, "warps");
}

TEST(Occupancy, SaysWhichLimitByHowMuch) {
  const auto exceeded = exceeded_limits(limits_of(90), {2048, 300, 300 * kKib});
  ASSERT_EQ(exceeded.size(), 4u);
  EXPECT_EQ(exceeded[0].limit, "threads a block");
  EXPECT_EQ(exceeded[0].asked, 2048);
  EXPECT_EQ(exceeded[0].allowed, 1024);
  EXPECT_EQ(exceeded[3].limit, "shared memory a block");
  EXPECT_EQ(exceeded[3].allowed, 227 * kKib);
}

TEST(Occupancy, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(occupancy({}, {128, 32, 0}).error().message, HasSubstr("GPUs"));
  EXPECT_THAT(occupancy(limits_of(90), {0, 32, 0}).error().message, HasSubstr("threads is 0"));
}

TEST(Waves, WorkedValues) {
  struct Case {
    std::int64_t tiles, slots;
    double fraction;
    std::int64_t waves;
    double efficiency;
  };
  for (const Case& c : {Case{1024, 132, 7.758, 8, 0.9697}, Case{144, 132, 1.0909, 2, 0.5455},
                        Case{272, 132, 2.0606, 3, 0.6869}, Case{1024, 108, 9.4815, 10, 0.9481},
                        Case{1024, 84, 12.190, 13, 0.9377}, Case{2048, 132, 15.515, 16, 0.9697}}) {
    auto result = waves(c.tiles, c.slots);
    EXPECT_NEAR(result->fraction, c.fraction, 1e-3);
    EXPECT_EQ(result->waves, Count(c.waves));
    EXPECT_NEAR(result->efficiency, c.efficiency, 5e-5);
  }
}

TEST(Waves, NoTiles) {
  EXPECT_EQ(waves(0, 132)->waves, Count(0));
  EXPECT_EQ(waves(0, 132)->efficiency, 0);
  EXPECT_FALSE(waves(5, 0).has_value());
}

TEST(Padding, IsTheUsefulShare) {
  EXPECT_DOUBLE_EQ(*padding_efficiency(4096, 4096, 4096, 128, 128, 32), 1.0);
  EXPECT_DOUBLE_EQ(*padding_efficiency(129, 128, 32, 128, 128, 32), 129.0 / 256);
  EXPECT_DOUBLE_EQ(*padding_efficiency(0, 128, 32, 128, 128, 32), 0);
  EXPECT_FALSE(padding_efficiency(1, 1, 1, 0, 1, 1).has_value());
}

}  // namespace
}  // namespace tilewise
