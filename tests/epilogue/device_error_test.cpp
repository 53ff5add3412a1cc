// On a GPU: the error of the device functions over every float, and over random doubles.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "epilogue/reference.h"
#include "gpu/buffer.h"
#include "gpu/compile.h"
#include "gpu/kernel_files.h"
#include "gpu/loaded_kernel.h"
#include "io/embedded.h"

namespace tilewise {

extern const EmbeddedFile kDeviceErrorSource[];

namespace {

// As docs/epilogue.md states them, in the order of the kernel's functions.
struct Bound {
  EpilogueOp op;
  double float_ulps, double_ulps;
};
constexpr Bound kBounds[] = {{EpilogueOp::exp, 2, 2},           {EpilogueOp::tanh, 2, 2},
                             {EpilogueOp::sigmoid, 4, 3},       {EpilogueOp::silu, 5, 4},
                             {EpilogueOp::gelu_tanh, 2.5, 2.5}, {EpilogueOp::gelu_erf, 7, 6}};
constexpr double kSmallestUlp = 0x1p-142;
constexpr int kNumNarrow = 5;  // functions for results of 16 bits or fewer, after these

gpu::TranslationUnit error_unit() {
  gpu::TranslationUnit unit;
  unit.source = {"device_error.cu", std::string(kDeviceErrorSource[0].text)};
  unit.headers = gpu::include_closure(gpu::kernel_files().value(), "parts/epilogue.cuh").value();
  return unit;
}

TEST(DeviceErrorKernel, Compiles) {
  if (!gpu::nvrtc()) GTEST_SKIP() << gpu::nvrtc().error().message;
  const auto compiled = gpu::compile_unit(error_unit(), "sm_90a");
  EXPECT_TRUE(compiled) << compiled.error().message;
}

class DeviceError : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = gpu::gpu_devices();
    if (!devices) GTEST_SKIP() << devices.error().message;
    if (!gpu::nvrtc()) GTEST_SKIP() << gpu::nvrtc().error().message;
    context_ = gpu::find_context(nullptr).value();
    scope_.emplace(gpu::ContextScope::enter(context_.context).value());
    auto compiled = gpu::compile_unit(error_unit(), context_.device->architecture);
    ASSERT_TRUE(compiled) << compiled.error().message;
    auto shared = std::make_shared<const gpu::CompiledKernel>(std::move(*compiled));
    kernel_ = gpu::LoadedKernel::load(std::move(shared), "device_error").value();
  }

  void launch(int function, long long count, const void* x, void* y, void* worst) {
    double smallest = kSmallestUlp;
    void* parameters[] = {&function, &count, &x, &y, &smallest, &worst};
    gpu::CuLaunchConfig config;
    config.grid_x = static_cast<unsigned>(context_.device->num_sms) * 8;
    config.block_x = static_cast<unsigned>(kernel_->launch().threads);
    const auto done = kernel_->enqueue(config, parameters);
    ASSERT_TRUE(done) << done.error().message;
  }

  gpu::DeviceContext context_;
  std::optional<gpu::ContextScope> scope_;
  std::shared_ptr<const gpu::LoadedKernel> kernel_;
};

TEST_F(DeviceError, IsBoundedOverEveryFloat) {
  const auto worst = gpu::DeviceBuffer::allocate(sizeof(std::uint64_t)).value();
  for (int i = 0; i < static_cast<int>(std::size(kBounds)); ++i) {
    ASSERT_TRUE(worst.fill(0));
    launch(i, 0, nullptr, nullptr, worst.data());
    std::uint64_t packed = 0;
    ASSERT_TRUE(worst.copy_to_host(&packed, sizeof packed));
    const double error = static_cast<double>(packed >> 32) / 1024;
    const auto argument = __builtin_bit_cast(float, static_cast<std::uint32_t>(packed));
    EXPECT_LE(error, kBounds[i].float_ulps) << "function " << i << " at " << argument;
    EXPECT_GT(error, 0.25) << "the kernel compared nothing";
  }
}

TEST_F(DeviceError, OfFunctionsForNarrowResultsIsBoundedOverEveryFloat) {
  const auto worst = gpu::DeviceBuffer::allocate(sizeof(std::uint64_t)).value();
  for (int i = 0; i < kNumNarrow; ++i) {
    ASSERT_TRUE(worst.fill(0));
    launch(static_cast<int>(std::size(kBounds)) + i, 0, nullptr, nullptr, worst.data());
    std::uint64_t packed = 0;
    ASSERT_TRUE(worst.copy_to_host(&packed, sizeof packed));
    const double share = static_cast<double>(packed >> 32) / 1024;
    const auto argument = __builtin_bit_cast(float, static_cast<std::uint32_t>(packed));
    EXPECT_LE(share, 1) << "function " << i << " at " << argument;
    EXPECT_GT(share, 0) << "the kernel compared nothing";
  }
}

TEST_F(DeviceError, OfFunctionsForNarrowResultsAtInfinityAndNan) {
  const double inf = INFINITY;
  const std::vector<double> x = {inf, -inf, NAN, -300, 300, 0};
  const std::size_t bytes = x.size() * sizeof(double);
  const auto arguments = gpu::DeviceBuffer::allocate(bytes).value();
  const auto values = gpu::DeviceBuffer::allocate(bytes).value();
  ASSERT_TRUE(arguments.copy_from_host(x.data(), bytes));
  std::vector<double> y(x.size());
  for (int i = 0; i < kNumNarrow; ++i) {
    // A negative count: the values of floats.
    launch(static_cast<int>(std::size(kBounds)) + i, -static_cast<long long>(x.size()),
           arguments.data(), values.data(), nullptr);
    ASSERT_TRUE(values.copy_to_host(y.data(), bytes));
    const bool is_sigmoid = i == 0;
    EXPECT_EQ(y[0], is_sigmoid ? 1 : inf);
    EXPECT_EQ(y[1], 0);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 0);
    EXPECT_EQ(y[4], is_sigmoid ? 1 : 300);
    EXPECT_EQ(y[5], is_sigmoid ? 0.5 : 0);
  }
}

TEST_F(DeviceError, IsBoundedOverRandomDoubles) {
  std::mt19937_64 random(1);
  std::vector<double> x;
  for (double range : {0.5, 2.0, 8.0, 30.0}) {
    std::uniform_real_distribution<double> uniform(-range, range);
    for (int i = 0; i < 50000; ++i) x.push_back(uniform(random));
  }
  const std::size_t bytes = x.size() * sizeof(double);
  const auto arguments = gpu::DeviceBuffer::allocate(bytes).value();
  const auto values = gpu::DeviceBuffer::allocate(bytes).value();
  ASSERT_TRUE(arguments.copy_from_host(x.data(), bytes));
  std::vector<double> y(x.size());
  for (int i = 0; i < static_cast<int>(std::size(kBounds)); ++i) {
    launch(i, static_cast<long long>(x.size()), arguments.data(), values.data(), nullptr);
    ASSERT_TRUE(values.copy_to_host(y.data(), bytes));
    double worst = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const reference::Real exact = reference::apply<reference::Real>(kBounds[i].op, x[j], 0);
      const auto size = static_cast<double>(std::fabs(exact));
      double error =
          static_cast<double>(std::fabs(y[j] - exact)) / (std::nextafter(size, INFINITY) - size);
      if (kBounds[i].op == EpilogueOp::gelu_tanh) {
        error /= 2 + std::fabs(1.6 * (x[j] + 0.044715 * x[j] * x[j] * x[j]));
      }
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, kBounds[i].double_ulps) << "function " << i;
  }
}

}  // namespace
}  // namespace tilewise
