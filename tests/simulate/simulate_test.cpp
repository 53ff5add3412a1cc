#include "tilewise/simulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tilewise {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  std::vector<double> integers(std::size_t count) {
    std::vector<double> values(count);
    for (double& v : values) v = static_cast<double>(between(-4, 4));
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<double> reference(const Problem& p, const std::vector<double>& a,
                              const std::vector<double>& b) {
  std::vector<double> d(static_cast<std::size_t>(p.m * p.n * p.batch), 0.0);
  std::size_t out = 0;
  for (std::int64_t x = 0; x < p.batch; ++x) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j, ++out) {
        for (std::int64_t k = 0; k < p.k; ++k) {
          d[out] += a[static_cast<std::size_t>(x * p.a.batch + i * p.a.row + k * p.a.column)] *
                    b[static_cast<std::size_t>(x * p.b.batch + k * p.b.row + j * p.b.column)];
        }
      }
    }
  }
  return d;
}

Schedule random_schedule(Random& random) {
  constexpr Level kLevels[] = {Level::block, Level::warp, Level::thread};
  Schedule s;
  const auto depth = random.between(1, 3);
  std::int64_t largest = 24;
  for (std::int64_t i = 0; i < depth; ++i) {
    Tile t{kLevels[i],
           random.between(0, largest),
           random.between(0, largest),
           random.between(0, largest),
           1,
           1};
    if (random.between(0, 3) > 0) {  // mostly a real nest, sometimes an untiled dimension
      t.m = std::max<std::int64_t>(t.m, 1);
      t.n = std::max<std::int64_t>(t.n, 1);
    }
    s.tiles.push_back(t);
    largest = std::max<std::int64_t>(1, largest / 2);
  }
  Tile& inner = s.tiles.back();
  if (random.between(0, 1) == 1) {
    inner.repeat_m = random.between(1, 3);
    inner.repeat_n = random.between(1, 3);
    inner.m = std::max<std::int64_t>(1, inner.m) * inner.repeat_m;
    inner.n = std::max<std::int64_t>(1, inner.n) * inner.repeat_n;
  }
  s.swap_ab = random.between(0, 4) == 0;
  return s;
}

std::string describe(const Problem& p, const Schedule& s) {
  std::string text = std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
  for (const Tile& t : s.tiles) {
    text += " " + std::string(to_string(t.level)) + ":" + std::to_string(t.m) + "x" +
            std::to_string(t.n) + "x" + std::to_string(t.k) + " repeat " +
            std::to_string(t.repeat_m) + "x" + std::to_string(t.repeat_n);
  }
  return text + (s.swap_ab ? " swapped" : "");
}

void expect_equal_counts(const Problem& p, const Schedule& s, const Simulation& sim) {
  const auto closed = count_levels(p, s);
  ASSERT_TRUE(closed.has_value());
  ASSERT_EQ(closed->levels.size(), sim.levels.size());
  for (std::size_t i = 0; i < sim.levels.size(); ++i) {
    EXPECT_EQ(closed->levels[i].reads_a, Count(sim.levels[i].reads_a))
        << describe(p, s) << " level " << i;
    EXPECT_EQ(closed->levels[i].reads_b, Count(sim.levels[i].reads_b))
        << describe(p, s) << " level " << i;
  }
  EXPECT_EQ(closed->tiled, Count(sim.global_reads));
  EXPECT_EQ(closed->phases, sim.phases) << describe(p, s);
  EXPECT_EQ(closed->blocks, Count(sim.blocks)) << describe(p, s);
}

// Must hold: closed form = simulation, exactly, whatever the shapes and tiles.
TEST(Simulate, EqualsTheClosedFormAndTheReference) {
  Random random(7);
  for (int round = 0; round < 6000; ++round) {
    const auto size = [&] { return random.between(0, random.between(0, 3) == 0 ? 50 : 17); };
    Problem p = make_problem(size(), size(), size());
    const Schedule s = random_schedule(random);
    const auto a = random.integers(static_cast<std::size_t>(p.m * p.k));
    const auto b = random.integers(static_cast<std::size_t>(p.k * p.n));
    const auto sim = simulate(p, s, a, b);
    ASSERT_TRUE(sim.has_value()) << sim.error().message << describe(p, s);
    expect_equal_counts(p, s, *sim);
    ASSERT_EQ(sim->d, reference(p, a, b)) << describe(p, s);
    ASSERT_EQ(sim->multiply_adds, static_cast<std::uint64_t>(p.m * p.n * p.k));
    if (HasFailure()) return;
  }
}

TEST(Simulate, BatchesStridesAndTransposes) {
  Random random(3);
  Problem p = make_problem(13, 9, 11);
  p.batch = 3;
  p.a = {1, 17, 200};  // column-major, padded
  p.b = {12, 1, 0};    // shared by the batch
  p.d.batch = 13 * 9;
  Schedule s;
  s.tiles = {{Level::block, 4, 4, 4, 1, 1}, {Level::thread, 2, 3, 1, 1, 1}};
  const auto a = random.integers(800), b = random.integers(300);
  const auto sim = simulate(p, s, a, b);
  ASSERT_TRUE(sim.has_value()) << sim.error().message;
  EXPECT_EQ(sim->d, reference(p, a, b));
  expect_equal_counts(p, s, *sim);
}

// Memory is that of a tile a level, not of a list of all tiles.
TEST(Simulate, ManyTilesTakeNoMemory) {
  Schedule s;
  s.tiles = {{Level::block, 1, 1, 1, 1, 1}};
  const std::int64_t m = 1 << 20;
  const std::vector<double> a(static_cast<std::size_t>(m), 2.0), b = {3.0};
  const auto sim = simulate(make_problem(m, 1, 1), s, a, b);
  ASSERT_TRUE(sim.has_value());
  EXPECT_EQ(sim->blocks, m);
  EXPECT_EQ(sim->d, std::vector<double>(static_cast<std::size_t>(m), 6.0));
}

TEST(Simulate, OneLevelReadsTwoOperandsAMultiplyAdd) {
  Schedule s;
  s.tiles = {{Level::block, 8, 8, 8, 1, 1}};
  const std::vector<double> x(20 * 20, 1.0);
  const auto sim = simulate(make_problem(20, 20, 20), s, x, x);
  ASSERT_TRUE(sim.has_value());
  EXPECT_EQ(sim->shared_reads, 2u * 20 * 20 * 20);  // for every b
  EXPECT_EQ(sim->global_reads, 2u * 20 * 20 * 3);
}

TEST(Simulate, NoTilesIsTheNaiveKernel) {
  const std::vector<double> x(6 * 6, 1.0);
  const auto sim = simulate(make_problem(6, 6, 6), Schedule{}, x, x);
  ASSERT_TRUE(sim.has_value());
  EXPECT_EQ(sim->global_reads, 2u * 6 * 6 * 6);
}

TEST(Simulate, SumsInTheArithmeticOfTheProblem) {
  const std::vector<double> a = {1.0, std::ldexp(1.0, -30)}, b = {1.0, 1.0};
  const auto f32 = simulate(make_problem(1, 1, 2), Schedule{}, a, b);
  const auto f64 = simulate(make_problem(1, 1, 2, Type::f64), Schedule{}, a, b);
  ASSERT_TRUE(f32 && f64);
  EXPECT_EQ(f32->d[0], 1.0);
  EXPECT_EQ(f64->d[0], 1.0 + std::ldexp(1.0, -30));
}

TEST(Simulate, EpilogueReadsCAndOperands) {
  Random random(11);
  Problem p = make_problem(7, 5, 6);
  p.epilogue = parse_epilogue("relu(2 * acc + bias[n]) - c[m,n] + shift").value();
  set_contiguous_operands(p.epilogue, p.m, p.n);
  Schedule s;
  s.tiles = {{Level::block, 4, 4, 4, 1, 1}};
  const auto a = random.integers(42), b = random.integers(30), c = random.integers(35);
  const auto bias = random.integers(5), shift = random.integers(1);
  const std::span<const double> operands[] = {bias, shift};
  const auto sim = simulate(p, s, a, b, c, operands);
  ASSERT_TRUE(sim.has_value()) << sim.error().message;
  const auto product = reference(p, a, b);
  for (std::size_t i = 0; i < product.size(); ++i) {
    EXPECT_EQ(sim->d[i], std::max(0.0, 2 * product[i] + bias[i % 5]) - c[i] + shift[0]);
  }
  EXPECT_FALSE(simulate(p, s, a, b, c).has_value());             // operands are missing
  EXPECT_FALSE(simulate(p, s, a, b, {}, operands).has_value());  // c is missing
}

TEST(Simulate, WithoutKTheEpilogueStillRuns) {
  Problem p = make_problem(2, 3, 0);
  p.epilogue = parse_epilogue("acc + 4").value();
  const auto sim = simulate(p, Schedule{}, {}, {});
  ASSERT_TRUE(sim.has_value()) << sim.error().message;
  EXPECT_EQ(sim->d, std::vector<double>(6, 4.0));
  EXPECT_EQ(sim->global_reads, 0u);
}

TEST(Simulate, RefusesShortInputsAndEndlessRuns) {
  const std::vector<double> x(10, 1.0);
  const auto shorter = simulate(make_problem(4, 4, 4), Schedule{}, x, x);
  ASSERT_FALSE(shorter.has_value());
  EXPECT_NE(shorter.error().message.find("A has 10 elements"), std::string::npos);
  const auto endless = simulate(make_problem(100000, 100000, 100000), Schedule{}, x, x);
  ASSERT_FALSE(endless.has_value());
  EXPECT_NE(endless.error().message.find("2^40"), std::string::npos);
}

}  // namespace
}  // namespace tilewise
