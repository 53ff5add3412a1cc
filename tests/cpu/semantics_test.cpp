// The rules that every path keeps, one test each, on the CPU with every instruction set. The same
// rules for the simulator are in tests/simulate/semantics_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cpu/compiled_names.h"
#include "cpu/float_environment.h"
#include "cpu/product_case.h"
#include "cpu/targets.h"
#include "tilewise/epilogue.h"

namespace tilewise::testing {
namespace {

using ::testing::HasSubstr;

constexpr Type kTypes[] = {Type::f32, Type::f64, Type::bf16, Type::f16};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class SemanticsOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!cpu::is_supported(GetParam())) GTEST_SKIP() << "this CPU has no " << GetParam();
  }

  [[nodiscard]] static Plan prepared(const Problem& problem, int threads = 1,
                                     const Schedule* schedule = nullptr) {
    Result<Plan> plan = prepare_cpu(problem, GetParam(), threads, schedule);
    EXPECT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->target(), GetParam());
    return *plan;
  }

  static void run(const ProductData& data, const void* c = nullptr,
                  std::span<const void* const> operands = {}, int threads = 1) {
    const auto done = prepared(data.problem, threads)
                          .run(data.a.data(), data.b.data(), c, data.d.data(), operands);
    ASSERT_TRUE(done) << done.error().message;
  }
};

void set_epilogue(Problem& problem, std::string_view text) {
  problem.epilogue = parse_epilogue(text).value();
  set_contiguous_operands(problem.epilogue, problem.m, problem.n);
  for (EpilogueOperand& operand : problem.epilogue.operands) operand.type = problem.type_d;
}

ProductCase of_type(Type type, ProductCase p) {
  p.a = p.b = p.d = type;
  return p;
}

// M = 0 or N = 0 or no batch: nothing is read and nothing written, epilogue or not.
TEST_P(SemanticsOn, EmptyOutputsTouchNothing) {
  GuardedBuffer forbidden(4096, Side::front);
  forbidden.forbid();
  for (const Type type : kTypes) {
    for (const auto& [m, n, batch] : {std::tuple{0, 5, 1}, {5, 0, 1}, {0, 0, 1}, {5, 5, 0}}) {
      for (const std::int64_t k : {0, 7}) {
        Problem problem = make_problem(m, n, k, type);
        problem.batch = batch;
        problem.d.batch = problem.c.batch = 25;
        set_epilogue(problem, "acc + c[m,n] + bias[n]");
        const void* operands[] = {forbidden.data()};
        const auto done = prepared(problem).run(forbidden.data(), forbidden.data(),
                                                forbidden.data(), forbidden.data(), operands);
        EXPECT_TRUE(done) << done.error().message;
      }
    }
  }
}

// K = 0: neither A nor B is read; the sums are zero and the epilogue still runs.
TEST_P(SemanticsOn, WithoutKTheEpilogueStillRuns) {
  GuardedBuffer forbidden(4096, Side::front);
  forbidden.forbid();
  for (const Type type : kTypes) {
    const ProductCase p = of_type(type, {.m = 19, .n = 45, .k = 0});
    ProductData data(p);
    set_epilogue(data.problem, "acc + 2 * c[m,n] + bias[n]");
    TestMatrix c(type, 1, p.m, p.n, data.d.strides(), Side::back);
    TestMatrix bias(type, 1, 1, p.n, {0, 1, 0}, Side::back);
    int at = 0;
    c.fill([&] { return at++ % 7 - 3; });
    bias.fill([&] { return at++ % 5 - 2; });
    const void* operands[] = {bias.data()};
    const auto done =
        prepared(data.problem)
            .run(forbidden.data(), forbidden.data(), c.data(), data.d.data(), operands);
    ASSERT_TRUE(done) << done.error().message;
    check_product(p, data, [&](double acc, auto, std::int64_t m, std::int64_t n) {
      return acc + 2 * c.at(0, m, n) + bias.at(0, 0, n);
    });
  }
}

// What the epilogue does not read is never touched, so that a NaN in C cannot leak.
TEST_P(SemanticsOn, UnreadOperandsAreNeverTouched) {
  GuardedBuffer forbidden(4096, Side::front);
  forbidden.forbid();
  for (const Type type : kTypes) {
    const ProductCase p = of_type(type, {.m = 19, .n = 45, .k = 6});
    ProductData data(p);
    set_epilogue(data.problem, "acc + used[n]");
    EpilogueOperand unused = data.problem.epilogue.operands[0];
    data.problem.epilogue.operands[data.problem.epilogue.num_operands++] = unused;
    TestMatrix used(type, 1, 1, p.n, {0, 1, 0}, Side::back);
    used.fill([] { return 1.0; });
    const void* operands[] = {used.data(), forbidden.data()};
    run(data, forbidden.data(), operands);
    check_product(p, data, [](double acc, auto, auto, auto) { return acc + 1; });
    TestMatrix nan(type, 1, p.m, p.n, data.d.strides(), Side::back);
    nan.fill_nan();
    run(data, nan.data(), operands);
    check_product(p, data, [](double acc, auto, auto, auto) { return acc + 1; });
  }
}

// D may be exactly C or an [m,n] operand, whatever the layout, the type and the blocks of K.
TEST_P(SemanticsOn, DMayBeExactlyCOrAnOperand) {
  const Layout layouts[] = {{}, {.column_major = true}, {.pad = 3}, {.pad = 1, .step = 2}};
  for (const Type type : kTypes) {
    for (const Layout& layout : layouts) {
      for (const char* text : {"acc + 2 * c[m,n]", "acc + 2 * residual[b,m,n]"}) {
        // Sums of 30 terms of +-1: exact in every type. Schedules below block K into 7.
        const ProductCase p =
            of_type(type, {.m = 21, .n = 37, .k = 30, .batch = 2, .layout_d = layout});
        ProductData data(p);
        int at = 0;
        const auto signs = [&] { return at++ % 3 - 1.0; };
        data.a.fill(signs);
        data.b.fill(signs);
        set_epilogue(data.problem, text);
        if (data.problem.epilogue.num_operands == 1) {
          data.problem.epilogue.operands[0].strides = data.d.strides();
        }
        TestMatrix before(type, p.batch, p.m, p.n, data.d.strides(), Side::back);
        at = 0;
        data.d.fill([&] { return at++ % 7 - 3; });
        at = 0;
        before.fill([&] { return at++ % 7 - 3; });
        Schedule blocked = prepared(data.problem).schedule();
        for (Tile& tile : blocked.tiles) {
          if (tile.level == Level::kc) tile.k = 7;
        }
        const void* operands[] = {data.d.data()};
        const auto done =
            prepared(data.problem, 2, &blocked)
                .run(data.a.data(), data.b.data(), data.d.data(), data.d.data(), operands);
        ASSERT_TRUE(done) << done.error().message;
        check_product(p, data, [&](double acc, std::int64_t b, std::int64_t m, std::int64_t n) {
          return acc + 2 * before.at(b, m, n);
        });
      }
    }
  }
}

// Any partial overlap, or an overlap with A or B, is an error, and D is as it was.
TEST_P(SemanticsOn, PartialOverlapIsRefusedAndNothingWritten) {
  for (const Type type : kTypes) {
    Problem problem = make_problem(6, 7, 6, type);
    set_epilogue(problem, "acc + c[m,n]");
    const Plan plan = prepared(problem);
    std::vector<std::byte> memory(4096, std::byte{0x3c});
    const auto untouched = memory;
    const auto at = [&](std::int64_t index) {
      return memory.data() + (256 + index) * size_bytes(type);
    };
    const auto refusal = [&](const void* a, const void* b, const void* c) {
      const auto done = plan.run(a, b, c, at(0));
      return done ? "accepted" : done.error().message;
    };
    for (const std::int64_t shift : {-5, -1, 1, 5, 41}) {
      EXPECT_THAT(refusal(at(100), at(200), at(shift)), HasSubstr("D overlaps C"));
      EXPECT_THAT(refusal(at(shift), at(100), at(200)), HasSubstr("D overlaps A"));
      EXPECT_THAT(refusal(at(100), at(shift), at(200)), HasSubstr("D overlaps B"));
    }
    EXPECT_THAT(refusal(at(0), at(100), at(200)), HasSubstr("D overlaps A"));
    EXPECT_THAT(refusal(at(100), at(0), at(200)), HasSubstr("D overlaps B"));
    EXPECT_EQ(memory, untouched);
  }
}

// Any base alignment that the element type allows, each operand at its own.
TEST_P(SemanticsOn, MisalignedBases) {
  for (const Type type : kTypes) {
    const auto element = static_cast<std::size_t>(size_bytes(type));
    const ProductCase p = of_type(type, {.m = 21, .n = 37, .k = 9});
    for (std::size_t shift = 0; shift < 64 / element; shift += 64 / element / 8 + 1) {
      ProductData data(p);
      set_epilogue(data.problem, "acc + c[m,n] + bias[n]");
      // Copies of the operands at 1, 3, 5 and 7 times the shift past a cache line.
      std::vector<std::byte> memory[4];
      std::byte* at[4] = {};
      const std::size_t sizes[] = {data.a.bytes().size(), data.b.bytes().size(),
                                   data.d.bytes().size(), p.n * element};
      for (std::size_t i = 0; i < 4; ++i) {
        memory[i].resize(sizes[i] + 128);
        const auto start = reinterpret_cast<std::uintptr_t>(memory[i].data());
        at[i] = memory[i].data() + (64 - start % 64) % 64 + (2 * i + 1) * shift * element % 64;
      }
      std::memcpy(at[0], data.a.data(), sizes[0]);
      std::memcpy(at[1], data.b.data(), sizes[1]);
      for (std::int64_t i = 0; i < p.m * p.n; ++i) write_element(type, at[2], i, i % 3);
      for (std::int64_t i = 0; i < p.n; ++i) write_element(type, at[3], i, i % 4);
      const void* operands[] = {at[3]};
      const auto done = prepared(data.problem).run(at[0], at[1], at[2], data.d.data(), operands);
      ASSERT_TRUE(done) << done.error().message;
      check_product(p, data, [&](double acc, auto, std::int64_t m, std::int64_t n) {
        return acc + static_cast<double>((m * p.n + n) % 3 + n % 4);
      });
      // And D at that alignment.
      ASSERT_TRUE(prepared(data.problem).run(at[0], at[1], at[2], at[2], operands));
      EXPECT_EQ(std::memcmp(at[2], data.d.data(), sizes[2]), 0) << "shift " << shift;
    }
  }
}

// Offsets are 64-bit: rows 2^31 + 3 elements apart.
TEST_P(SemanticsOn, StridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 3;
  constexpr std::int64_t kM = 3, kN = 5, kK = 2;
  constexpr std::size_t kBytes = (2 * kStride + kN) * sizeof(float);
  // Only the pages in use exist.
  const auto map = [] {
    return mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* const maps[] = {map(), map(), map()};
  if (std::ranges::count(maps, MAP_FAILED) > 0) GTEST_SKIP() << "no 3 x 16 GiB of addresses here";
  auto* const a = static_cast<float*>(maps[0]);
  auto* const b = static_cast<float*>(maps[1]);
  auto* const d = static_cast<float*>(maps[2]);
  Problem problem = make_problem(kM, kN, kK);
  problem.a.row = problem.b.row = problem.d.row = problem.c.row = kStride;
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t k = 0; k < kK; ++k) a[i * kStride + k] = static_cast<float>(i + k);
  }
  for (std::int64_t k = 0; k < kK; ++k) {
    for (std::int64_t j = 0; j < kN; ++j) b[k * kStride + j] = static_cast<float>(2 * k - j);
  }
  set_epilogue(problem, "acc + c[m,n]");  // in place: zero before
  EXPECT_TRUE(prepared(problem).run(a, b, d, d));
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t j = 0; j < kN; ++j) {
      EXPECT_EQ(d[i * kStride + j], static_cast<float>(i * -j + (i + 1) * (2 - j)));
    }
  }
  for (void* const at : maps) munmap(at, kBytes);
}

// Denormals of every type are read, kept in the sums and written.
TEST_P(SemanticsOn, DenormalsAreKept) {
  struct Case {
    Type type;
    double smallest;  // denormal
  };
  for (const auto& [type, smallest] : {Case{Type::f32, 0x1p-149},
                                       {Type::f64, 0x1p-1074},
                                       {Type::bf16, 0x1p-133},
                                       {Type::f16, 0x1p-24}}) {
    ProductData data(of_type(type, {.m = 13, .n = 40, .k = 2}));
    data.a.fill([&] { return smallest; });
    data.b.fill([] { return 1.0; });
    run(data);
    for (std::int64_t j = 0; j < 40; ++j) EXPECT_EQ(data.d.at(0, 12, j), 2 * smallest);
    set_epilogue(data.problem, "-acc * 0.5");
    run(data);
    for (std::int64_t j = 0; j < 40; ++j) EXPECT_EQ(data.d.at(0, 12, j), -smallest);
  }
}

// Whatever the caller has set: a program built with -ffast-math flushes denormals to zero.
TEST_P(SemanticsOn, TheCallersFloatingPointModeChangesNoBit) {
  const ProductCase p{.m = 61, .n = 83, .k = 40, .data = Data::normal};
  ProductData data(p);
  data.a.fill([at = 0]() mutable { return (at++ % 17 - 8) * 0x1p-80; });
  data.b.fill([at = 0]() mutable { return (at++ % 13 - 6.3) * 0x1p-60; });
  set_epilogue(data.problem, "silu(acc * 3) + acc");
  for (const int threads : {1, 2}) {
    const Plan plan = prepared(data.problem, threads);
    const auto product = [&] {
      return plan.run(data.a.data(), data.b.data(), nullptr, data.d.data()).has_value();
    };
    ASSERT_TRUE(product());
    const auto wanted = data.d.bytes();
    EXPECT_NE(data.d.at(0, 3, 4), 0);  // a denormal
    data.d.fill_nan();
    const std::uint64_t before = cpu::float_mode();
    cpu::set_float_mode(before | cpu::kModeBits);  // flushed to zero, rounded toward zero
    const bool done = product();
    const std::uint64_t after = cpu::float_mode();
    cpu::set_float_mode(before);
    ASSERT_TRUE(done);
    EXPECT_EQ(after & cpu::kModeBits, cpu::kModeBits) << "the caller's mode is kept";
    EXPECT_EQ(data.d.bytes(), wanted) << threads;
  }
}

// An infinity or a NaN stays in its row or column, edges and padding included.
TEST_P(SemanticsOn, InfinityAndNanStayInTheirRowsAndColumns) {
  for (const Type type : kTypes) {
    for (const double special : {kInfinity, -kInfinity, std::nan("")}) {
      const ProductCase p = of_type(type, {.m = 30, .n = 45, .k = 20});
      ProductData data(p);
      const auto positive = [at = 0]() mutable { return 1 + at++ % 3; };
      data.a.fill(positive);
      data.b.fill(positive);
      write_element(type, data.a.data(), 29 * 20 + 3, special);  // the last row
      write_element(type, data.b.data(), 5 * 45 + 44, special);  // the last column
      write_element(type, data.b.data(), 3 * 45 + 7, 0);         // meets the row: inf * 0
      run(data);
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          const double got = data.d.at(0, i, j);
          if (i != 29 && j != 44) {
            EXPECT_TRUE(std::isfinite(got)) << i << "," << j;
          } else if (std::isnan(special) || (i == 29 && j == 7)) {
            EXPECT_TRUE(std::isnan(got)) << i << "," << j;
          } else {
            EXPECT_EQ(got, special) << i << "," << j;
          }
        }
      }
    }
  }
}

// Inputs of 16 bits are summed in float32: 2^8 + 2^-8 needs 17 bits.
TEST_P(SemanticsOn, SumsAreFloat32OrWider) {
  for (const Type type : {Type::bf16, Type::f16}) {
    ProductData data({.m = 2, .n = 3, .k = 2, .a = type, .b = type, .d = Type::f32});
    data.a.fill([at = 0]() mutable { return at++ % 2 == 0 ? 256.0 : 0x1p-8; });
    data.b.fill([] { return 1.0; });
    run(data);
    EXPECT_EQ(data.d.at(0, 1, 2), 256 + 0x1p-8);
  }
}

// float64: sums and epilogue in double, constants and operands included.
TEST_P(SemanticsOn, Float64EpiloguesAreDouble) {
  ProductData data(of_type(Type::f64, {.m = 2, .n = 3, .k = 1}));
  data.a.fill([] { return 1.0; });
  data.b.fill([] { return 0x1p-40; });
  set_epilogue(data.problem, "acc + 0.1 + s");
  const double s = 0x1p-50;
  const void* operands[] = {&s};
  run(data, nullptr, operands);
  EXPECT_EQ(data.d.at(0, 1, 2), 0x1p-40 + 0.1 + s);
}

// Same inputs, schedule and machine: the same bits, between runs and for any number of threads.
TEST_P(SemanticsOn, SameBitsBetweenRunsAndThreads) {
  for (const Type type : kTypes) {
    const ProductCase p =
        of_type(type, {.m = 101, .n = 203, .k = 517, .batch = 2, .data = Data::normal});
    std::vector<std::byte> first;
    Schedule schedule;
    for (const int threads : {1, 2, 3, 8}) {
      ProductData data(p);
      set_epilogue(data.problem, "gelu(acc * 0.05 + bias[n])");
      std::vector<double> bias(static_cast<std::size_t>(p.n));
      for (std::int64_t n = 0; n < p.n; ++n) {
        write_element(type, bias.data(), n, 0.01 * static_cast<double>(n));
      }
      const void* operands[] = {bias.data()};
      if (threads == 1) schedule = prepared(data.problem, 1).schedule();
      const Plan plan = prepared(data.problem, threads, &schedule);
      for (int again = 0; again < 3; ++again) {
        ASSERT_TRUE(plan.run(data.a.data(), data.b.data(), nullptr, data.d.data(), operands));
        if (first.empty()) first = data.d.bytes();
        ASSERT_EQ(data.d.bytes(), first) << to_string(type) << ", " << threads << " threads";
      }
    }
  }
}

// A named choice: the bits of a row do not depend on the batch that it stands in.
TEST_P(SemanticsOn, BatchInvariant) {
  ProductCase p{.m = 40, .n = 70, .k = 300, .data = Data::normal};
  ProductData whole(p);
  whole.problem.batch_invariant = true;
  run(whole);
  for (const std::int64_t rows : {1, 7, 39}) {
    Problem part = whole.problem;
    part.m = rows;
    std::vector<float> d(static_cast<std::size_t>(rows * p.n));
    ASSERT_TRUE(prepared(part).run(whole.a.data(), whole.b.data(), nullptr, d.data()));
    EXPECT_EQ(std::memcmp(d.data(), whole.d.data(), d.size() * sizeof(float)), 0) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SemanticsOn, ::testing::ValuesIn(compiled_names()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tilewise::testing
