#include "epilogue/device_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "epilogue/functions.h"
#include "gpu/compile.h"
#include "gpu/kernel_files.h"
#include "gpu/nvrtc.h"

namespace tilewise {
namespace {

using testing::HasSubstr;
using testing::Not;

Epilogue parsed(std::string_view text) { return parse_epilogue(text).value(); }

TEST(DeviceCode, PrintsAReadableStruct) {
  Epilogue epilogue = parsed("gelu(acc * 2 + bias[n]) - x[b,m,n]");
  epilogue.operands[0].type = Type::bf16;
  EXPECT_EQ(print_device_code(epilogue, Type::f32, Type::f16),
            "// gelu(acc * 2 + bias[n]) - x[b,m,n]\n"
            "struct GeneratedEpilogue {\n"
            "  using Output = f16;\n"
            "  static constexpr bool kThroughShared = true;\n"
            "  template <class T>\n"
            "  static __device__ T apply(T accumulator, [[maybe_unused]] const KernelArguments& "
            "arguments,\n"
            "                            [[maybe_unused]] int64 b, [[maybe_unused]] int64 m,\n"
            "                            [[maybe_unused]] int64 n) {\n"
            "    const T x0 = epilogue::load<T, bf16>(arguments.operands[0], n * "
            "arguments.operands[0].column);  // bias\n"
            "    const T x1 = epilogue::load<T, float>(arguments.operands[1], b * "
            "arguments.operands[1].batch + m * arguments.operands[1].row + n * "
            "arguments.operands[1].column);  // x\n"
            "    return (epilogue::gelu_erf(((accumulator * T(2.0)) + x0)) - x1);\n"
            "  }\n"
            "};\n");
}

TEST(DeviceCode, AsksForALoopWhereItReadsOperandsOrCallsFunctions) {
  const auto asks = [](std::string_view text) {
    return print_device_code(parsed(text), Type::f32, Type::f32).find("kThroughShared = true") !=
           std::string::npos;
  };
  EXPECT_TRUE(asks("acc + bias[n]"));
  EXPECT_TRUE(asks("acc + c[m,n]"));
  EXPECT_TRUE(asks("gelu(acc)"));
  EXPECT_FALSE(asks("acc"));
  EXPECT_FALSE(asks("relu(2 * acc)"));
}

TEST(DeviceCode, WhatIsNotReadIsNotLoaded) {
  const std::string code = print_device_code(parsed("acc"), Type::bf16, Type::f32);
  EXPECT_THAT(code, HasSubstr("return accumulator;"));
  EXPECT_THAT(code, Not(HasSubstr("load")));
  EXPECT_THAT(print_device_code(parsed("acc + c[m,n]"), Type::bf16, Type::f32),
              HasSubstr("const T c = epilogue::load<T, bf16>(arguments.c, b * arguments.c.batch + "
                        "m * arguments.c.row + n * arguments.c.column);"));
}

// Compiles a printed epilogue for float and for double accumulators.
void expect_compiles(const Epilogue& epilogue, Type type, const char* architecture) {
  const auto files = gpu::kernel_files();
  ASSERT_TRUE(files) << files.error().message;
  auto headers = gpu::include_closure(*files, "parts/epilogue.cuh");
  ASSERT_TRUE(headers) << headers.error().message;
  const std::string source =
      "#include \"parts/epilogue.cuh\"\n"
      "namespace tilewise {\n" +
      print_device_code(epilogue, type, type) +
      "extern \"C\" __global__ void probe(const __grid_constant__ KernelArguments arguments,\n"
      "                                 float* x, double* y, GeneratedEpilogue::Output*) {\n"
      "  const int i = threadIdx.x;\n"
      "  x[i] = GeneratedEpilogue::apply(x[i], arguments, 0, 1, i);\n"
      "  y[i] = GeneratedEpilogue::apply(y[i], arguments, 0, 1, i);\n"
      "}\n}\n";
  const auto output = gpu::compile_cuda(**gpu::nvrtc(), {"probe.cu", source}, *headers,
                                        gpu::compile_options(architecture));
  ASSERT_TRUE(output) << output.error().message << "\n" << source;
  EXPECT_GT(output->cubin.size(), 0u);
}

TEST(DeviceCode, EveryOperationAndOperandKindCompiles) {
  if (!gpu::nvrtc()) GTEST_SKIP() << gpu::nvrtc().error().message;
  std::string all = "-acc / 3 - 1e-300 * 12345678901234567890";
  for (const EpilogueFunction& function : epilogue_functions()) {
    all += " + " + std::string(function.name) + "(acc";
    for (int i = 1; i < function.num_arguments; ++i) all += ", x[n]";
    all += ")";
  }
  expect_compiles(parsed(all), Type::f32, "sm_90a");
  for (Type type : {Type::f64, Type::f32, Type::bf16, Type::f16, Type::f8e4m3, Type::f8e5m2}) {
    Epilogue epilogue =
        parsed("acc*s + x[n] + y[m] + z[m,n] + t[b] + u[b,n] + v[b,m] + w[b,m,n] + c[m,n]");
    for (EpilogueOperand& operand : epilogue.operands) operand.type = type;
    expect_compiles(epilogue, type, "sm_90a");
  }
}

}  // namespace
}  // namespace tilewise
