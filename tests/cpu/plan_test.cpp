// prepare, Plan and matmul on the CPU: epilogues, memory that may and may not be shared,
// workspaces, threads, forks, and what is refused.
#include "tilewise/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>
#include <vector>

#include "cpu/cpu_count.h"
#include "cpu/product_case.h"
#include "cpu/targets.h"
#include "tilewise/matmul.h"

namespace tilewise::testing {
namespace {

using ::testing::HasSubstr;

Epilogue make_epilogue(std::string_view text, std::int64_t m, std::int64_t n) {
  auto epilogue = parse_epilogue(text);
  EXPECT_TRUE(epilogue) << text;
  set_contiguous_operands(*epilogue, m, n);
  return *epilogue;
}

std::string error_of(const Result<void>& result) {
  return result ? "no error" : result.error().message;
}

TEST(Plan, BiasAndRelu) {
  for (const Type type : {Type::f32, Type::f64}) {
    for (const std::int64_t k : {0, 5, 600}) {
      const ProductCase p{.m = 33, .n = 70, .k = k, .a = type, .b = type, .d = type};
      ProductData data(p);
      data.problem.epilogue = make_epilogue("relu(acc + bias[n])", p.m, p.n);
      data.problem.epilogue.operands[0].type = type;
      TestMatrix bias(type, 1, 1, p.n, {0, 1, 0}, Side::back);
      int at = 0;
      bias.fill([&] { return at++ % 11 - 5; });
      const void* operands[] = {bias.data()};
      const auto plan = prepare_cpu(data.problem);
      ASSERT_TRUE(plan) << plan.error().message;
      const auto done = plan->run(data.a.data(), data.b.data(), nullptr, data.d.data(), operands);
      ASSERT_TRUE(done) << done.error().message;
      check_product(p, data, [&](double acc, auto, auto, std::int64_t n) {
        return std::max(acc + bias.at(0, 0, n), 0.0);
      });
    }
  }
}

// Each target evaluates epilogues with instructions of its own.
TEST(Plan, GeluOnEveryTarget) {
  for (const cpu::KernelTable* table : cpu::compiled_targets()) {
    if (!cpu::is_supported(table->target)) continue;
    for (const Type type : {Type::f32, Type::f64}) {
      const ProductCase p{.m = 13, .n = 75, .k = 8, .a = type, .b = type, .d = type};
      ProductData data(p);
      data.problem.epilogue = make_epilogue("gelu(acc * 0.125)", p.m, p.n);
      const auto plan = prepare_cpu(data.problem, table->target);
      ASSERT_TRUE(plan && plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
      // The bound that tests/epilogue holds the function to: 6 units in the last place, 9 in
      // double.
      const double bound = type == Type::f64 ? 9 * 0x1p-52 : 6 * 0x1p-23;
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          double acc = 0;
          for (std::int64_t k = 0; k < p.k; ++k) acc += data.a.at(0, i, k) * data.b.at(0, k, j);
          const long double x = acc * 0.125L;
          const auto wanted = static_cast<double>(0.5L * x * std::erfc(-x / std::sqrt(2.0L)));
          EXPECT_LE(std::fabs(data.d.at(0, i, j) - wanted), bound * std::fabs(wanted))
              << table->target << " at " << acc;
        }
      }
    }
  }
}

TEST(Plan, OperandsOfEveryIndexInABatch) {
  const ProductCase p{.m = 15, .n = 40, .k = 9, .batch = 3};
  ProductData data(p);
  data.problem.epilogue = make_epilogue(
      "acc * scale + row[m] + column[n] + whole[m,n] + each[b,m,n] + c[m,n]", p.m, p.n);
  TestMatrix scale(Type::f32, 1, 1, 1, {0, 0, 0}, Side::back);
  TestMatrix row(Type::f32, 1, p.m, 1, {1, 0, 0}, Side::back);
  TestMatrix column(Type::f32, 1, 1, p.n, {0, 1, 0}, Side::back);
  TestMatrix whole(Type::f32, 1, p.m, p.n, {p.n, 1, 0}, Side::front);
  TestMatrix each(Type::f32, p.batch, p.m, p.n, {p.n, 1, p.m * p.n}, Side::front);
  TestMatrix c(Type::f32, p.batch, p.m, p.n, {p.n, 1, p.m * p.n}, Side::back);
  int at = 0;
  for (TestMatrix* matrix : {&scale, &row, &column, &whole, &each, &c}) {
    matrix->fill([&] { return at++ % 13 - 6; });
  }
  const void* operands[] = {scale.data(), row.data(), column.data(), whole.data(), each.data()};
  const auto plan = prepare_cpu(data.problem, "", 2);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto done = plan->run(data.a.data(), data.b.data(), c.data(), data.d.data(), operands);
  ASSERT_TRUE(done) << done.error().message;
  check_product(p, data, [&](double acc, std::int64_t b, std::int64_t m, std::int64_t n) {
    return acc * scale.at(0, 0, 0) + row.at(0, m, 0) + column.at(0, 0, n) + whole.at(0, m, n) +
           each.at(b, m, n) + c.at(b, m, n);
  });
}

TEST(Plan, DMayBeCOrAResidual) {
  for (const char* expression : {"acc + 2 * c[m,n]", "acc + 2 * residual[m,n]"}) {
    // Blocked k: sums must not pass through D before the epilogue has read it.
    const ProductCase p{.m = 30, .n = 50, .k = 700};
    ProductData data(p);
    data.problem.epilogue = make_epilogue(expression, p.m, p.n);
    int at = 0;
    data.d.fill([&] { return at++ % 7 - 3; });
    const ProductCase same = p;
    TestMatrix before(Type::f32, 1, p.m, p.n, data.d.strides(), Side::back);
    at = 0;
    before.fill([&] { return at++ % 7 - 3; });
    const void* operands[] = {data.d.data()};
    const auto plan = prepare_cpu(data.problem);
    ASSERT_TRUE(plan);
    const auto done =
        plan->run(data.a.data(), data.b.data(), data.d.data(), data.d.data(), operands);
    ASSERT_TRUE(done) << done.error().message;
    check_product(same, data, [&](double acc, auto, std::int64_t m, std::int64_t n) {
      return acc + 2 * before.at(0, m, n);
    });
  }
}

TEST(Plan, WhatIsNotReadIsNotTouched) {
  // K = 0: neither A nor B; an epilogue without c: not C; an operand that no instruction reads.
  const ProductCase p{.m = 9, .n = 20, .k = 0};
  ProductData data(p);
  data.problem.epilogue = make_epilogue("acc + 3", p.m, p.n);
  GuardedBuffer forbidden(4096, Side::front);
  forbidden.forbid();
  const auto plan = prepare_cpu(data.problem);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->run(forbidden.data(), forbidden.data(), forbidden.data(), data.d.data()));
  check_product(p, data, [](double, auto, auto, auto) { return 3.0; });
  // Null is as good.
  ASSERT_TRUE(plan->run(nullptr, nullptr, nullptr, data.d.data()));
}

TEST(Plan, NanInAnUnreadCDoesNotLeak) {
  const ProductCase p{.m = 9, .n = 20, .k = 4};
  ProductData data(p);
  std::vector<float> c(9 * 20, NAN);
  const auto plan = prepare_cpu(data.problem);
  ASSERT_TRUE(plan && plan->run(data.a.data(), data.b.data(), c.data(), data.d.data()));
  check_product(p, data);
}

TEST(Plan, EmptyOutputsWriteNothing) {
  for (const auto& [m, n, batch] : {std::tuple{0, 5, 1}, {5, 0, 1}, {5, 5, 0}}) {
    Problem problem = make_problem(m, n, 7);
    problem.batch = batch;
    problem.d.batch = 25;
    const auto plan = prepare_cpu(problem);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(plan->run(nullptr, nullptr, nullptr, nullptr));
  }
}

TEST(Plan, WorkspaceOfTheCallersAtAnyAlignment) {
  const ProductCase p{.m = 100, .n = 90, .k = 600};
  ProductData data(p);
  const auto plan = prepare_cpu(data.problem, "", 3);
  ASSERT_TRUE(plan);
  for (const std::size_t shift : {0, 1, 63}) {
    GuardedBuffer workspace(plan->workspace_bytes() + shift, Side::back);
    data.d.fill_nan();
    const auto done = plan->run(data.a.data(), data.b.data(), nullptr, data.d.data(), {},
                                {workspace.data() + shift, plan->workspace_bytes()});
    ASSERT_TRUE(done) << done.error().message;
    check_product(p, data);
    EXPECT_TRUE(workspace.canaries_intact());
  }
  std::vector<std::byte> small(plan->workspace_bytes() - 1);
  EXPECT_THAT(error_of(plan->run(data.a.data(), data.b.data(), nullptr, data.d.data(), {}, small)),
              HasSubstr("the workspace has"));
}

TEST(Plan, OnePlanOnSeveralThreadsAtOnce) {
  const ProductCase p{.m = 120, .n = 130, .k = 300, .data = Data::normal};
  ProductData data(p);
  const auto plan = prepare_cpu(data.problem, "", 3);
  ASSERT_TRUE(plan && plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
  const auto wanted = data.d.bytes();
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      std::vector<std::byte> d(wanted.size());
      for (int round = 0; round < 20; ++round) {
        std::fill(d.begin(), d.end(), std::byte{0xff});
        if (!plan->run(data.a.data(), data.b.data(), nullptr, d.data()) || d != wanted) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Plan, RunsInAForkedChild) {
  const ProductCase p{.m = 300, .n = 310, .k = 200, .data = Data::normal};
  ProductData data(p);
  const auto plan = prepare_cpu(data.problem, "", 3);
  ASSERT_TRUE(plan && plan->run(data.a.data(), data.b.data(), nullptr, data.d.data()));
  const auto wanted = data.d.bytes();
  const pid_t child = fork();
  if (child == 0) {
    std::vector<std::byte> d(wanted.size());
    const bool by_plan = plan->run(data.a.data(), data.b.data(), nullptr, d.data()) && d == wanted;
    std::fill(d.begin(), d.end(), std::byte{0});
    const bool by_call =
        matmul(data.problem, data.a.data(), data.b.data(), nullptr, d.data()) && d == wanted;
    _exit(by_plan && by_call ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Plan, ThreadsFollowTheRequestAndTheWork) {
  EXPECT_EQ(prepare_cpu(make_problem(512, 512, 512), "", 3)->threads(), 3);
  EXPECT_EQ(prepare_cpu(make_problem(8, 8, 8), "", 0)->threads(), 1);
  EXPECT_EQ(prepare_cpu(make_problem(1024, 1024, 1024), "", 0)->threads(), cpu::usable_cpus());
  EXPECT_THAT(prepare_cpu(make_problem(8, 8, 8), "", -1).error().message,
              HasSubstr("threads is -1"));
}

TEST(Plan, TargetsByName) {
  const Problem problem = make_problem(8, 8, 8);
  for (const cpu::KernelTable* table : cpu::compiled_targets()) {
    const auto plan = prepare_cpu(problem, table->target);
    if (cpu::is_supported(table->target)) {
      ASSERT_TRUE(plan);
      EXPECT_EQ(plan->target(), table->target);
    } else {
      EXPECT_EQ(plan.error().code, ErrorCode::missing_capability);
    }
  }
  const auto unknown = prepare_cpu(problem, "avx9");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::bad_request);
  EXPECT_THAT(unknown.error().message, HasSubstr("valid are sse4, avx2, avx512, neon"));
}

struct Refused {
  const char* name;
  std::function<void(Problem&)> change;
  const char* message;
};

TEST(Prepare, RefusesWhatTheCpuHasNot) {
  const Refused cases[] = {
      {"f8", [](Problem& p) { p.type_a = p.type_b = Type::f8e4m3; }, "the CPU has f64, f32"},
      {"tf32", [](Problem& p) { p.compute = Compute::tf32; }, "compute is tf32"},
      {"f64 in f32", [](Problem& p) { p.type_a = p.type_b = Type::f64; }, "ask for compute f64"},
      {"f64 to bf16",
       [](Problem& p) {
         p.compute = Compute::f64;
         p.type_d = Type::bf16;
       },
       "with f64 the CPU has"},
      {"scale", [](Problem& p) { p.scale = Scale::tensor; }, "with scale"},
      {"groups", [](Problem& p) { p.groups = 2; }, "groups is 2"},
      {"negative", [](Problem& p) { p.m = -1; }, "m is -1"},
      {"short stride", [](Problem& p) { p.a.row = 7; }, "strides of A"},
  };
  for (const Refused& c : cases) {
    Problem problem = make_problem(8, 8, 8);
    c.change(problem);
    const auto plan = prepare_cpu(problem);
    ASSERT_FALSE(plan) << c.name;
    EXPECT_THAT(plan.error().message, HasSubstr(c.message)) << c.name;
  }
  const Problem problem = make_problem(8, 8, 8);
  Schedule gpu;
  gpu.name = "square_tile";
  gpu.kernel = "square_tile";
  gpu.tiles = {{.level = Level::block, .m = 8, .n = 8, .k = 8}};
  EXPECT_THAT(prepare_cpu(problem, "", 1, &gpu).error().message, HasSubstr("is for the gpu"));
}

TEST(Prepare, AWorkspaceBeyondMemoryIsAnError) {
  Problem problem = make_problem(std::int64_t{1} << 31, std::int64_t{1} << 28, 600);
  Schedule whole = prepare_cpu(make_problem(8, 8, 8))->schedule();
  whole.tiles.erase(whole.tiles.begin());  // one task: sums of the whole output between blocks of k
  const auto plan = prepare_cpu(problem, "", 1, &whole);
  if (plan) {
    const auto done = plan->run(&problem, &problem, nullptr, &whole);
    ASSERT_FALSE(done);
  } else {
    EXPECT_EQ(plan.error().code, ErrorCode::out_of_memory);
  }
}

TEST(Run, RefusalsWriteNothing) {
  const ProductCase p{.m = 6, .n = 7, .k = 5};
  ProductData data(p);
  data.problem.epilogue = make_epilogue("acc + c[m,n] + bias[n] + other[m,n]", p.m, p.n);
  const auto plan = prepare_cpu(data.problem);
  ASSERT_TRUE(plan) << plan.error().message;
  std::vector<float> memory(400, 1.0F);
  const auto untouched = memory;
  float* const d = memory.data() + 100;  // 42 elements
  std::vector<float> c(42), bias(7), other(42);
  const void* operands[] = {bias.data(), other.data()};
  const void* a = data.a.data();
  const void* b = data.b.data();
  const auto run = [&](const void* a_, const void* b_, const void* c_, void* d_, const void* bias_,
                       const void* other_) {
    const void* ops[] = {bias_, other_};
    return error_of(plan->run(a_, b_, c_, d_, ops));
  };
  EXPECT_THAT(run(nullptr, b, c.data(), d, bias.data(), other.data()), HasSubstr("A is null"));
  EXPECT_THAT(run(a, nullptr, c.data(), d, bias.data(), other.data()), HasSubstr("B is null"));
  EXPECT_THAT(run(a, b, nullptr, d, bias.data(), other.data()), HasSubstr("C is null"));
  EXPECT_THAT(run(a, b, c.data(), nullptr, bias.data(), other.data()), HasSubstr("D is null"));
  EXPECT_THAT(run(a, b, c.data(), d, nullptr, other.data()), HasSubstr("operand bias is null"));
  EXPECT_THAT(run(d + 41, b, c.data(), d, bias.data(), other.data()), HasSubstr("D overlaps A"));
  EXPECT_THAT(run(a, d - 34, c.data(), d, bias.data(), other.data()), HasSubstr("D overlaps B"));
  EXPECT_THAT(run(a, b, d + 1, d, bias.data(), other.data()), HasSubstr("D overlaps C"));
  EXPECT_THAT(run(a, b, c.data(), d, d + 5, other.data()), HasSubstr("D overlaps operand bias"));
  EXPECT_THAT(run(a, b, c.data(), d, bias.data(), d - 7), HasSubstr("D overlaps operand other"));
  EXPECT_THAT(error_of(plan->run(a, b, c.data(), d, {operands, 1})), HasSubstr("1 operands"));
  const void* odd = reinterpret_cast<const std::byte*>(a) + 1;
  EXPECT_THAT(run(odd, b, c.data(), d, bias.data(), other.data()),
              HasSubstr("multiple of 4 bytes"));
  EXPECT_EQ(memory, untouched);
  EXPECT_EQ(run(a, b, d, d, bias.data(), d), "no error");
  EXPECT_NE(memory, untouched);
}

TEST(Matmul, PreparesAndRuns) {
  for (int round = 0; round < 3; ++round) {
    const ProductCase p{.m = 20, .n = 30, .k = 40};
    ProductData data(p);
    const auto done = matmul(data.problem, data.a.data(), data.b.data(), nullptr, data.d.data());
    ASSERT_TRUE(done) << done.error().message;
    check_product(p, data);
  }
  EXPECT_FALSE(matmul(make_problem(1, 1, -1), nullptr, nullptr, nullptr, nullptr));
}

TEST(Matmul, FromSeveralThreads) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 1; i < 120; ++i) {
        std::vector<float> a(static_cast<std::size_t>(i), 1), d(1, 0);
        const int k = (i * (t + 1)) % 100 + 1;
        a.resize(static_cast<std::size_t>(k), 1);
        if (!matmul(make_problem(1, 1, k), a.data(), a.data(), nullptr, d.data()) || !(d[0] > 0))
          ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HostMachine, DescribesThisCpu) {
  const Machine machine = host_machine();
  EXPECT_EQ(machine.device, Device::cpu);
  EXPECT_EQ(machine.num_units, cpu::usable_cpus());
  EXPECT_EQ(machine.architecture, (*cpu::choose_target(""))->target);
  for (const char* level : {"dram", "l2", "l1"}) {
    const MemoryLevel* memory = find_memory(machine, level);
    ASSERT_NE(memory, nullptr) << level;
    EXPECT_GT(memory->capacity_bytes.value, 0) << level;
    EXPECT_FALSE(memory->capacity_bytes.source.empty());
  }
}

}  // namespace
}  // namespace tilewise::testing
