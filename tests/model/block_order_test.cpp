// DRAM reads against an element-wise LRU simulation of the same launch (values computed elsewhere).
#include "tilewise/block_order.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewise {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

BlockGrid grid(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t block_m,
               std::int64_t block_n, std::int64_t slots, int group) {
  BlockGrid g;
  g.m = m, g.n = n, g.k = k;
  g.block_m = block_m, g.block_n = block_n, g.slots = slots;
  g.order = {Order::Kind::grouped, group, Order::Axis::m};
  return g;
}

double megabytes(const BlockGrid& g, double mib) {
  return block_traffic(g, mib * kMib)->dram / 1e6;
}

struct Row {
  std::int64_t edge;
  int group;
  double wave_only, at25, at30, at50, at60;
};

class WorkedOrders : public ::testing::TestWithParam<Row> {};

TEST_P(WorkedOrders, MatchTheClosedForm) {
  const Row& r = GetParam();
  const BlockGrid g = grid(r.edge, r.edge, r.edge, 128, 128, 132, r.group);
  EXPECT_NEAR(block_traffic(g, 0)->wave_only / 1e6, r.wave_only, 0.06);
  EXPECT_NEAR(megabytes(g, 0), r.wave_only, 0.06);
  // The table's closed form is printed to 0.1 MB, and only where it differs from the simulation by
  // more than 0.3 %; elsewhere the simulation stands in, so that is the tolerance.
  auto near = [&](double mib, double expected) {
    EXPECT_NEAR(megabytes(g, mib), expected, 0.003 * expected + 0.06) << mib << " MiB";
  };
  near(25, r.at25);
  near(30, r.at30);
  near(50, r.at50);
  near(60, r.at60);
}

INSTANTIATE_TEST_SUITE_P(Facts, WorkedOrders,
                         ::testing::Values(Row{4096, 1, 309.3, 309.3, 309.3, 67.1, 67.1},
                                           Row{4096, 4, 324.0, 324.0, 321.4, 67.1, 67.1},
                                           Row{4096, 8, 230.7, 221.2, 181.9, 67.1, 67.1},
                                           Row{4096, 16, 224.4, 135.3, 124.5, 97.9, 88.6},
                                           Row{8192, 1, 4366.3, 4365.0, 4364.6, 4362.9, 4362.1},
                                           Row{8192, 4, 2541.7, 2539.8, 2539.1, 2536.5, 2535.2},
                                           Row{8192, 8, 1753.2, 1749.3, 1748.0, 1457.5, 1301.5},
                                           Row{8192, 16, 1736.4, 1732.5, 1731.2, 877.0, 812.2}));

TEST(BlockOrderTraffic, Rectangles) {
  EXPECT_NEAR(megabytes(grid(5120, 7168, 3072, 128, 256, 132, 8), 30), 302.7, 0.06);
  EXPECT_NEAR(megabytes(grid(5120, 7168, 3072, 128, 256, 108, 4), 40), 490.0, 0.06);
  EXPECT_NEAR(megabytes(grid(16384, 4096, 2048, 128, 128, 132, 8), 30), 83.9, 0.06);
  EXPECT_NEAR(megabytes(grid(2048, 28672, 4096, 256, 128, 132, 6), 30), 625.0, 0.06);
  EXPECT_NEAR(megabytes(grid(8192, 8192, 1024, 128, 256, 132, 8), 10), 184.4, 0.06);
  EXPECT_NEAR(megabytes(grid(8192, 8192, 8192, 128, 256, 132, 8), 0), 1493.2, 0.06);
  EXPECT_NEAR(megabytes(grid(16384, 16384, 16384, 128, 128, 132, 11), 0), 12469.7, 0.06);
  EXPECT_NEAR(megabytes(grid(16384, 16384, 16384, 128, 128, 132, 1), 0), 67683.5, 0.06);
}

TEST(BlockOrderTraffic, DeliveredLookupsAndMinimum) {
  BlockGrid g = grid(8192, 8192, 8192, 128, 128, 132, 8);
  auto plain = block_traffic(g, 30 * kMib);
  EXPECT_EQ(plain->delivered, Count(17'179'869'184));
  EXPECT_EQ(plain->lookups, plain->delivered);
  EXPECT_EQ(plain->minimum, Count(268'435'456));
  EXPECT_EQ(plain->waves, 32);
  g.cluster = {2, 1};
  g.multicast = true;
  auto multicast = block_traffic(g, 30 * kMib);
  EXPECT_EQ(multicast->delivered, plain->delivered);
  EXPECT_EQ(multicast->lookups, Count(17'179'869'184 / 4 * 3));  // B is asked for once a pair
}

TEST(BlockOrderTraffic, LiesBetweenMinimumAndDelivered) {
  for (const auto kind : {Order::Kind::row, Order::Kind::column, Order::Kind::grouped,
                          Order::Kind::hilbert, Order::Kind::serpentine}) {
    for (const std::int64_t m : {1, 130, 1000, 4097}) {
      for (const double mib : {0.0, 1.0, 8.0, 1000.0}) {
        BlockGrid g = grid(m, 3001, 777, 128, 64, 7, 4);
        g.order.kind = kind;
        auto traffic = block_traffic(g, mib * kMib);
        EXPECT_GE(traffic->dram, traffic->minimum.to_double() * (1 - 1e-12));
        EXPECT_LE(traffic->dram, traffic->wave_only * (1 + 1e-12));
        EXPECT_LE(traffic->wave_only, traffic->delivered.to_double() * (1 + 1e-12));
      }
    }
  }
}

TEST(BlockOrderTraffic, AMemoryThatHoldsAllReadsTheMinimum) {
  EXPECT_DOUBLE_EQ(megabytes(grid(1000, 2000, 300, 128, 128, 10, 4), 1000),
                   (1000 * 300 + 300 * 2000) * 2 / 1e6);
}

// A matrix that the batch shares is one panel for all of it; the others are read for each product.
TEST(BlockOrderTraffic, Batches) {
  BlockGrid g = grid(512, 768, 256, 128, 128, 24, 4);  // a wave is a product
  const auto one = block_traffic(g, kMib);
  g.batch = 5;
  const auto five = block_traffic(g, kMib);
  EXPECT_EQ(five->minimum, Count(5) * one->minimum);
  EXPECT_EQ(five->delivered, Count(5) * one->delivered);
  EXPECT_EQ(five->lookups, Count(5) * one->lookups);
  EXPECT_EQ(five->waves, 5);
  EXPECT_DOUBLE_EQ(five->dram, 5 * one->dram);
  g.shared_b = true;
  const auto shared = block_traffic(g, kMib);
  EXPECT_EQ(shared->minimum, Count((5 * 512 * 256 + 256 * 768) * 2));
  EXPECT_EQ(shared->delivered, five->delivered);
  EXPECT_DOUBLE_EQ(shared->dram, shared->minimum.to_double());
  // Without a cache that holds B it is read again for each product.
  EXPECT_DOUBLE_EQ(block_traffic(g, 0)->dram, five->dram);
  g.batch = std::int64_t{1} << 20;
  const auto many = block_traffic(g, kMib);
  EXPECT_FALSE(many->exact);
  EXPECT_DOUBLE_EQ(many->dram, std::ldexp(one->dram, 20));
}

// The parts of a split K are launched one after another, each with its share of K.
TEST(BlockOrderTraffic, SplitK) {
  BlockGrid g = grid(512, 768, 300, 128, 128, 24, 4);
  const auto whole = block_traffic(g, kMib);
  g.split_ways = 3;
  const auto split = block_traffic(g, kMib);
  EXPECT_EQ(split->delivered, whole->delivered);
  EXPECT_EQ(split->minimum, whole->minimum);
  EXPECT_EQ(split->waves, 3);
  EXPECT_DOUBLE_EQ(split->dram, whole->dram);
}

TEST(BlockOrderTraffic, ZeroDimensionsAndRefusals) {
  EXPECT_EQ(block_traffic(grid(0, 5, 5, 128, 128, 132, 8), 1e6)->dram, 0);
  EXPECT_FALSE(block_traffic(grid(1, 5, 5, 0, 128, 132, 8), 1e6).has_value());
  EXPECT_FALSE(block_traffic(grid(1, 5, 5, 1, 128, 0, 8), 1e6).has_value());
}

TEST(BlockOrderTraffic, AHugeGridIsEstimated) {
  auto traffic = block_traffic(grid(1 << 20, 1 << 20, 1 << 20, 128, 128, 132, 8), 30 * kMib);
  EXPECT_FALSE(traffic->exact);
  EXPECT_GT(traffic->dram, traffic->minimum.to_double());
  EXPECT_LT(traffic->dram, traffic->delivered.to_double());
  EXPECT_FALSE(block_traffic(grid(INT64_MAX, INT64_MAX, 1, 1, 1, 1, 1), 1)->exact);
}

TEST(BlockOrderTraffic, BestGroup) {
  EXPECT_NEAR(best_group(132, 128, 128), 11.5, 0.05);
  EXPECT_NEAR(best_group(132, 128, 256), 16.2, 0.05);
  EXPECT_NEAR(best_group(132, 256, 128), 8.1, 0.05);
}

}  // namespace
}  // namespace tilewise
