// On a GPU: contexts, streams, workspaces and errors of plans.
#include "tilewise/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "gpu/buffer.h"
#include "gpu/gpu_plan.h"
#include "gpu/reference.h"

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;

class PlanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto devices = gpu_devices(); !devices) GTEST_SKIP() << devices.error().message;
    if (!find_schedule("square_tile")) GTEST_SKIP() << "no schedule square_tile";
  }
};

// A product in memory of its own, checked against float64.
struct OwnProduct {
  Problem problem;
  DeviceBuffer a, b, d;

  explicit OwnProduct(const Problem& p) : problem(p) {
    a = DeviceBuffer::allocate(static_cast<std::size_t>(p.m * p.k * 4)).value();
    b = DeviceBuffer::allocate(static_cast<std::size_t>(p.k * p.n * 4)).value();
    d = DeviceBuffer::allocate(static_cast<std::size_t>(p.m * p.n * 4)).value();
    EXPECT_TRUE(fill_normal(Type::f32, a, 1, nullptr).has_value());
    EXPECT_TRUE(fill_normal(Type::f32, b, 2, nullptr).has_value());
    EXPECT_TRUE(d.fill(0xff).has_value());
  }
  bool verified() const {
    const auto sampled =
        sample_product(problem, a.data(), b.data(), d.data(), sample_elements(problem, 1000));
    return sampled && compare(problem, 0, *sampled).verified;
  }
};

TEST_F(PlanTest, PrepareAndRunLeaveTheCurrentContextAsItWas) {
  const auto& call = (*driver())->call;
  CuContext before = nullptr;
  ASSERT_EQ(call.context_get_current(&before), kCuSuccess);
  const Problem p = make_problem(100, 100, 100);
  const Schedule schedule = find_schedule("square_tile").value();
  const auto plan = prepare(p, &schedule, {}, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->device(), Device::gpu);
  CuContext after = nullptr;
  ASSERT_EQ(call.context_get_current(&after), kCuSuccess);
  EXPECT_EQ(before, after);

  const auto context = find_context(nullptr);
  {
    const auto scope = ContextScope::enter(context->context);
    OwnProduct run(p);
    ASSERT_TRUE(plan->run(run.a.data(), run.b.data(), nullptr, run.d.data()).has_value());
    EXPECT_TRUE(run.verified());
  }
  ASSERT_EQ(call.context_get_current(&after), kCuSuccess);
  EXPECT_EQ(before, after);
}

TEST_F(PlanTest, ManyThreadsRunOnePlanOnTheirOwnStreams) {
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Problem p = make_problem(300, 200, 100);
  const Schedule schedule = find_schedule("square_tile").value();
  const auto plan = make_plan(p, &schedule);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto inner = ContextScope::enter(context->context);
      const Stream stream = Stream::create().value();
      OwnProduct run(p);
      RunArguments arguments;
      arguments.a = run.a.data();
      arguments.b = run.b.data();
      arguments.d = run.d.data();
      arguments.stream = stream.get();
      if (!(*plan)->run(arguments) || !stream.synchronize()) return;
      if (run.verified()) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

TEST_F(PlanTest, ARunInTheStreamsContextNeedsNoCurrentOne) {
  const auto context = find_context(nullptr);
  const Problem p = make_problem(64, 64, 64);
  const Schedule schedule = find_schedule("square_tile").value();
  const auto plan = make_plan(p, &schedule);
  ASSERT_TRUE(plan.has_value());
  const auto [run, stream] = [&] {
    const auto scope = ContextScope::enter(context->context);
    return std::pair(std::make_unique<OwnProduct>(p),
                     std::make_unique<Stream>(Stream::create().value()));
  }();
  RunArguments arguments;
  arguments.a = run->a.data();
  arguments.b = run->b.data();
  arguments.d = run->d.data();
  arguments.stream = stream->get();
  ASSERT_TRUE((*plan)->run(arguments).has_value());
  const auto scope = ContextScope::enter(context->context);
  ASSERT_TRUE(stream->synchronize().has_value());
  EXPECT_TRUE(run->verified());
}

TEST_F(PlanTest, ASplitKTakesTheCallersWorkspaceOrItsOwn) {
  Result<Schedule> schedule = find_schedule("tuned_f32");
  if (!schedule) GTEST_SKIP() << schedule.error().message;
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Problem p = make_problem(200, 300, 5000);
  for (const SplitK::Reduce reduce : {SplitK::Reduce::second_pass, SplitK::Reduce::atomic}) {
    schedule->split_k = {4, reduce};
    const auto plan = make_plan(p, &*schedule);
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    const std::size_t bytes = (*plan)->description().workspace_bytes;
    ASSERT_GT(bytes, 0u);
    const DeviceBuffer workspace = DeviceBuffer::allocate(bytes).value();
    for (const bool own : {true, false}) {
      OwnProduct run(p);
      RunArguments arguments;
      arguments.a = run.a.data();
      arguments.b = run.b.data();
      arguments.d = run.d.data();
      if (!own) arguments.workspace = {static_cast<std::byte*>(workspace.data()), bytes};
      const auto done = (*plan)->run(arguments);
      ASSERT_TRUE(done.has_value()) << done.error().message;
      EXPECT_TRUE(run.verified()) << (own ? "own" : "the caller's");
    }
  }
}

TEST_F(PlanTest, ManyMatricesTakeSeveralLaunches) {
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  Problem p = make_problem(3, 4, 5);
  p.batch = 70000;  // more than a grid has along z
  p.a.batch = 15;
  p.b.batch = 20;
  p.d.batch = p.c.batch = 12;
  const Schedule schedule = find_schedule("square_tile").value();
  const auto plan = make_plan(p, &schedule);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const auto buffer = [](std::int64_t elements) {
    return DeviceBuffer::allocate(static_cast<std::size_t>(elements * 4)).value();
  };
  const DeviceBuffer a = buffer(15 * p.batch), b = buffer(20 * p.batch), d = buffer(12 * p.batch);
  ASSERT_TRUE(fill_normal(Type::f32, a, 1, nullptr).has_value());
  ASSERT_TRUE(fill_normal(Type::f32, b, 2, nullptr).has_value());
  ASSERT_TRUE(d.fill(0xff).has_value());
  RunArguments arguments;
  arguments.a = a.data();
  arguments.b = b.data();
  arguments.d = d.data();
  ASSERT_TRUE((*plan)->run(arguments).has_value());
  const auto sampled = sample_product(p, a.data(), b.data(), d.data(), sample_elements(p, 5000));
  ASSERT_TRUE(sampled.has_value());
  EXPECT_TRUE(compare(p, 0, *sampled).verified);
}

TEST_F(PlanTest, ASecondPlanIsNotCompiledAgain) {
  const Schedule schedule = find_schedule("square_tile").value();
  ASSERT_TRUE(make_plan(make_problem(10, 20, 32), &schedule).has_value());
  const auto again = make_plan(make_problem(30, 40, 64), &schedule);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ((*again)->origin(), KernelOrigin::memory) << "sizes are not part of the source";
}

TEST_F(PlanTest, ALaunchErrorNamesKernelGridBlockAndSharedBytes) {
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Schedule schedule = find_schedule("square_tile").value();
  const auto plan = make_plan(make_problem(64, 64, 64), &schedule);
  ASSERT_TRUE(plan.has_value());
  CuLaunchConfig config;
  config.grid_x = 7;
  config.block_x = 2048;  // more than a block has
  config.shared_bytes = 512;
  const auto done = (*plan)->kernel().enqueue(config, nullptr);
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().message, HasSubstr("cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE"));
  EXPECT_THAT(done.error().message,
              HasSubstr("kernel \"square_tile\", grid 7 x 1 x 1, block 2048 x 1 x 1, 512 bytes"));
}

TEST_F(PlanTest, OutOfMemoryIsItsOwnError) {
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const auto buffer = DeviceBuffer::allocate(std::size_t{1} << 45);
  ASSERT_FALSE(buffer.has_value());
  EXPECT_EQ(buffer.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(buffer.error().message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
}

}  // namespace
}  // namespace tilewise::gpu
