// On a GPU: a kernel that reads no memory of ours ends the context. A program of its own, since
// nothing works after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/buffer.h"
#include "gpu/compile.h"
#include "gpu/kernel_cache.h"
#include "gpu/loaded_kernel.h"
#include "gpu/probe_kernel.h"

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LostContext, IsToldInFullOnceAndNamedAfterwards) {
  if (const auto devices = gpu_devices(); !devices) GTEST_SKIP() << devices.error().message;
  const auto context = find_context(nullptr);
  const auto scope = ContextScope::enter(context->context);
  const Problem problem = make_problem(8, 8, 8);
  const Schedule schedule = probe_schedule();
  const auto unit =
      write_translation_unit(probe_files(), problem, schedule, make_constants(problem, schedule));
  const auto found = find_kernel(*unit, context->device->architecture);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  const auto kernel = LoadedKernel::load(found->kernel, "probe");
  ASSERT_TRUE(kernel.has_value()) << kernel.error().message;

  const Stream stream = Stream::create().value();
  KernelArguments arguments = {};
  arguments.m = arguments.n = arguments.k = arguments.batch = 8;
  arguments.a.data = arguments.b.data = arguments.d.data = reinterpret_cast<void*>(8);
  CuLaunchConfig config;
  config.block_x = 256;
  config.stream = stream.get();
  void* parameters[] = {&arguments};
  ASSERT_TRUE((*kernel)->enqueue(config, parameters).has_value()) << "it is only enqueued";

  const auto first = stream.synchronize();
  ASSERT_FALSE(first.has_value());
  EXPECT_THAT(first.error().message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(first.error().message, HasSubstr("an earlier kernel"));
  const auto second = stream.synchronize();
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("lost earlier to CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(second.error().message, Not(HasSubstr("an earlier kernel of this context")));
}

}  // namespace
}  // namespace tilewise::gpu
