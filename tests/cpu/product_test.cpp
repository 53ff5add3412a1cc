// The product against a long double reference, in memory where a stray access faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cpu/compiled_names.h"
#include "cpu/product_case.h"
#include "cpu/targets.h"
#include "tilewise/epilogue.h"

namespace tilewise::testing {
namespace {

class ProductOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!cpu::is_supported(GetParam())) GTEST_SKIP() << "this CPU has no " << GetParam();
    kernels_ = *cpu::choose_target(GetParam());
  }

  // Runs a case and checks every element; says which target and schedule ran.
  void expect_right(const ProductCase& p, const Schedule* schedule = nullptr, int threads = 1) {
    ProductData data(p);
    const auto plan = prepare_cpu(data.problem, GetParam(), threads, schedule);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->target(), GetParam());
    EXPECT_EQ(plan->device(), Device::cpu);
    EXPECT_TRUE(plan->schedule().name.starts_with("packed_") || schedule != nullptr);
    const auto done = plan->run(data.a.data(), data.b.data(), nullptr, data.d.data());
    ASSERT_TRUE(done) << done.error().message;
    check_product(p, data);
  }

  [[nodiscard]] int mr(Type type) const {
    return type == Type::f64 ? kernels_->f64.mr : kernels_->f32.mr;
  }
  [[nodiscard]] int nr(Type type) const {
    return type == Type::f64 ? kernels_->f64.nr : kernels_->f32.nr;
  }

  // Small tiles, so that small products have several of each level.
  [[nodiscard]] Schedule small_tiles(Type type, std::int64_t task_m, std::int64_t task_n,
                                     std::int64_t kc, std::int64_t mc) const {
    Schedule s;
    s.name = "small";
    s.kernel = "packed";
    s.device = Device::cpu;
    s.compute = type == Type::f64 ? Compute::f64 : Compute::f32;
    s.tiles = {{.level = Level::nc, .m = task_m, .n = task_n},
               {.level = Level::kc, .k = kc},
               {.level = Level::mc, .m = mc},
               {.level = Level::register_tile, .m = mr(type), .n = nr(type)}};
    return s;
  }

  const cpu::KernelTable* kernels_ = nullptr;
};

// 0, 1, tile - 1, tile, tile + 1, a prime.
std::vector<std::int64_t> sizes_around(std::int64_t tile) {
  return {0, 1, tile - 1, tile, tile + 1, 2 * tile + 5, 37};
}

TEST_P(ProductOn, SizesAroundTheRegisterTile) {
  for (const Type type : {Type::f32, Type::f64}) {
    for (const std::int64_t m : sizes_around(mr(type))) {
      for (const std::int64_t n : sizes_around(nr(type))) {
        for (const std::int64_t k : {0, 1, 2, 7, 16, 37}) {
          expect_right({.m = m, .n = n, .k = k, .a = type, .b = type, .d = type});
        }
      }
    }
  }
}

TEST_P(ProductOn, SmallTilesOfEveryLevel) {
  for (const Type type : {Type::f32, Type::f64}) {
    const std::int64_t r = mr(type);
    const std::int64_t s = nr(type);
    // Multiples of the register tile and not, larger than the matrix and not.
    const Schedule schedules[] = {small_tiles(type, 2 * r, 2 * s, 8, r),
                                  small_tiles(type, 3 * r + 1, s + 3, 5, r + 1),
                                  small_tiles(type, 0, 0, 16, 2 * r), small_tiles(type, 1, 1, 1, 1),
                                  small_tiles(type, 1000, 1000, 1000, 1000)};
    for (const Schedule& schedule : schedules) {
      for (const std::int64_t m : {r - 1, 2 * r, 4 * r + 1}) {
        for (const std::int64_t n : {s - 1, 2 * s + 1}) {
          for (const std::int64_t k : {0, 1, 8, 9, 33}) {
            expect_right({.m = m, .n = n, .k = k, .a = type, .b = type, .d = type}, &schedule);
          }
        }
      }
    }
  }
}

TEST_P(ProductOn, LayoutsAndStrides) {
  const Layout layouts[] = {{},
                            {.column_major = true},
                            {.pad = 3},
                            {.column_major = true, .pad = 5},
                            {.pad = 2, .step = 2}};
  for (const Type type : {Type::f32, Type::f64}) {
    const Schedule blocked = small_tiles(type, 2 * mr(type), 2 * nr(type), 11, mr(type));
    for (const Layout& a : layouts) {
      for (const Layout& b : layouts) {
        for (const Layout& d : layouts) {
          for (const Side side : {Side::front, Side::back}) {
            const ProductCase p{.m = 2 * mr(type) + 1,
                                .n = nr(type) + 3,
                                .k = 23,
                                .a = type,
                                .b = type,
                                .d = type,
                                .layout_a = a,
                                .layout_b = b,
                                .layout_d = d,
                                .side = side};
            expect_right(p);
            expect_right(p, &blocked);
          }
        }
      }
    }
  }
}

TEST_P(ProductOn, BatchesAndASharedMatrix) {
  for (const bool share : {false, true}) {
    for (const std::int64_t batch : {0, 1, 3, 5}) {
      expect_right({.m = 13,
                    .n = 35,
                    .k = 9,
                    .batch = batch,
                    .layout_a = {.pad = 1},
                    .layout_d = {.pad = 7},
                    .share_b = share},
                   nullptr, 2);
    }
  }
}

TEST_P(ProductOn, NormalDataWithinTheBound) {
  for (const Type type : {Type::f32, Type::f64}) {
    expect_right({.m = 61, .n = 67, .k = 1, .a = type, .b = type, .d = type, .data = Data::normal});
    expect_right(
        {.m = 61, .n = 67, .k = 300, .a = type, .b = type, .d = type, .data = Data::normal});
    expect_right(
        {.m = 23, .n = 71, .k = 1009, .a = type, .b = type, .d = type, .data = Data::normal});
  }
}

TEST_P(ProductOn, SixteenBitStorage) {
  const Type types[] = {Type::f32, Type::bf16, Type::f16};
  const Layout layouts[] = {{}, {.column_major = true}, {.pad = 3, .step = 3}};
  for (const Type a : types) {
    for (const Type b : types) {
      for (const Type d : types) {
        for (const Layout& layout : layouts) {
          for (const Data data : {Data::small_integers, Data::normal}) {
            // |sum| <= 16 * 8 = 128 for the integers: exact in bf16's 8 bits.
            const ProductCase p{.m = 27,
                                .n = 43,
                                .k = data == Data::normal ? 41 : 8,
                                .a = a,
                                .b = b,
                                .d = d,
                                .layout_a = layout,
                                .layout_b = layout,
                                .layout_d = layout,
                                .data = data};
            const Schedule blocked =
                small_tiles(Type::f32, 24, 32, data == Data::normal ? 10 : 3, 12);
            expect_right(p);
            expect_right(p, &blocked);
          }
        }
      }
    }
  }
}

// 1 + 2^-12 + ... : partial sums that a 16-bit buffer between the blocks of k would lose.
TEST_P(ProductOn, PartialSumsAreFloat32) {
  const ProductCase p{.m = 3, .n = 5, .k = 512, .a = Type::bf16, .b = Type::bf16, .d = Type::bf16};
  ProductData data(p);
  data.a.fill([] { return 1.0; });
  std::int64_t at = 0;
  data.b.fill([&] { return at++ < 5 ? 1.0 : 0x1p-9; });
  const Schedule blocked = small_tiles(Type::f32, 0, 0, 1, 0);
  const auto plan = prepare_cpu(data.problem, GetParam(), 1, &blocked);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
  // The exact sum is 1 + 511/512, which rounds to 2 in bf16; sums kept in bf16 would stay at 1.
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(data.d.at(0, i, j), 2.0);
  }
}

TEST_P(ProductOn, WiderComputeOfNarrowerInputs) {
  ProductCase p{.m = 9, .n = 11, .k = 100, .data = Data::normal};
  ProductData data(p);
  data.problem.compute = Compute::f64;
  const auto plan = prepare_cpu(data.problem, GetParam());
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
  check_product(p, data);
}

TEST_P(ProductOn, SameBitsForAnyNumberOfThreads) {
  for (const Type type : {Type::f32, Type::f64}) {
    const ProductCase p{
        .m = 203, .n = 331, .k = 517, .a = type, .b = type, .d = type, .data = Data::normal};
    std::vector<std::byte> first;
    for (const int threads : {1, 2, 3, 5}) {
      ProductData data(p);
      const auto plan = prepare_cpu(data.problem, GetParam(), threads);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(plan->threads(), threads);
      ASSERT_TRUE(plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
      if (first.empty()) first = data.d.bytes();
      EXPECT_EQ(data.d.bytes(), first) << threads;
      ASSERT_TRUE(plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
      EXPECT_EQ(data.d.bytes(), first) << "second run, " << threads;
    }
  }
}

// A row's bits do not depend on the rows beside it, nor a column's on the columns.
TEST_P(ProductOn, BitsOfARowStandAlone) {
  const ProductCase p{.m = 50, .n = 70, .k = 300, .data = Data::normal};
  ProductData whole(p);
  const auto plan = prepare_cpu(whole.problem, GetParam());
  ASSERT_TRUE(plan && plan->run(whole.a.data(), whole.b.data(), nullptr, whole.d.data()));
  Problem row = whole.problem;
  row.m = 1;
  const auto row_plan = prepare_cpu(row, GetParam());
  ASSERT_TRUE(row_plan);
  std::vector<float> alone(70);
  for (const std::int64_t i : {0, 1, 11, 12, 49}) {
    const float* a = static_cast<const float*>(whole.a.data()) + i * row.a.row;
    ASSERT_TRUE(row_plan->run(a, whole.b.data(), nullptr, alone.data()));
    for (std::int64_t j = 0; j < 70; ++j) {
      EXPECT_EQ(alone[static_cast<std::size_t>(j)], whole.d.at(0, i, j)) << i << "," << j;
    }
  }
}

// One column is read as it lies, by a tile of its own: the bits are those that it has among others.
TEST_P(ProductOn, BitsOfAColumnStandAlone) {
  for (const std::int64_t k : {1, 255, 700}) {
    const ProductCase p{.m = 50, .n = 70, .k = k, .data = Data::normal};
    ProductData whole(p);
    const auto plan = prepare_cpu(whole.problem, GetParam());
    ASSERT_TRUE(plan && plan->run(whole.a.data(), whole.b.data(), nullptr, whole.d.data()));
    Problem column = whole.problem;
    column.n = 1;
    column.d = {1, 1, 50};
    const auto column_plan = prepare_cpu(column, GetParam());
    ASSERT_TRUE(column_plan);
    std::vector<float> alone(50);
    for (const std::int64_t j : {0, 1, 16, 69}) {
      const float* b = static_cast<const float*>(whole.b.data()) + j;
      ASSERT_TRUE(column_plan->run(whole.a.data(), b, nullptr, alone.data()));
      for (std::int64_t i = 0; i < 50; ++i) {
        EXPECT_EQ(alone[static_cast<std::size_t>(i)], whole.d.at(0, i, j)) << i << "," << j;
      }
    }
  }
}

TEST_P(ProductOn, InfinityAndNanStayInTheirRowsAndColumns) {
  const ProductCase p{.m = 30, .n = 45, .k = 20};
  ProductData data(p);
  auto* a = static_cast<float*>(data.a.data());
  auto* b = static_cast<float*>(data.b.data());
  a[7 * 20 + 3] = NAN;
  b[5 * 45 + 44] = NAN;
  const auto plan = prepare_cpu(data.problem, GetParam());
  ASSERT_TRUE(plan && plan->run(a, b, nullptr, data.d.data()));
  for (std::int64_t i = 0; i < 30; ++i) {
    for (std::int64_t j = 0; j < 45; ++j) {
      EXPECT_EQ(std::isnan(data.d.at(0, i, j)), i == 7 || j == 44) << i << "," << j;
    }
  }
}

TEST_P(ProductOn, DenormalsAreKept) {
  ProductData data({.m = 4, .n = 4, .k = 1});
  data.a.fill([] { return 0x1p-100; });
  data.b.fill([] { return 0x1p-45; });
  const auto plan = prepare_cpu(data.problem, GetParam());
  ASSERT_TRUE(plan && plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
  EXPECT_EQ(data.d.at(0, 3, 3), 0x1p-145);
}

INSTANTIATE_TEST_SUITE_P(Targets, ProductOn, ::testing::ValuesIn(compiled_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tilewise::testing
