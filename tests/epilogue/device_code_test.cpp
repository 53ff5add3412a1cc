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
  EXPECT_EQ(print_device_code(epilogue, Type::f32, Type::f32),
            R"(// gelu(acc * 2 + bias[n]) - x[b,m,n]
struct GeneratedEpilogue {
  using Output = float;
  static constexpr bool kThroughShared = true;

  template <class T>
  static __device__ T value(T accumulator, T x0, T x1) {
    return (epilogue::gelu_erf(((accumulator * T(2.0)) + x0)) - x1);
  }

  template <class T>
  static __device__ T apply(T accumulator, [[maybe_unused]] const KernelArguments& arguments,
                            [[maybe_unused]] int64 b, [[maybe_unused]] int64 m,
                            [[maybe_unused]] int64 n) {
    return value<T>(accumulator,
                    epilogue::load<T, bf16>(arguments.operands[0], n * arguments.operands[0].column),
                    epilogue::load<T, float>(arguments.operands[1], b * arguments.operands[1].batch + m * arguments.operands[1].row + n * arguments.operands[1].column));
  }

  struct Pair {
    epilogue::Two<bf16> x0;  // bias
    epilogue::Two<float> x1;  // x
  };
  static __device__ bool in_pairs([[maybe_unused]] const KernelArguments& arguments) {
    return true && epilogue::in_twos<bf16>(arguments.operands[0]) && epilogue::in_twos<float>(arguments.operands[1]);
  }
  static __device__ Pair load_pair(
      [[maybe_unused]] const KernelArguments& arguments, [[maybe_unused]] int64 b,
      [[maybe_unused]] int64 m, [[maybe_unused]] int64 n) {
    return {epilogue::load_two<bf16>(arguments.operands[0], n),
            epilogue::load_two<float>(arguments.operands[1], b * arguments.operands[1].batch + m * arguments.operands[1].row + n)};
  }
  static __device__ void apply_pair(float& x, float& y, [[maybe_unused]] const Pair& pair) {
    x = value<float>(x, pair.x0.first(), pair.x1.first());
    y = value<float>(y, pair.x0.second(), pair.x1.second());
  }
};
)");
}

TEST(DeviceCode, AResultOf16BitsTakesTheShortFunctions) {
  for (const char* name : {"gelu", "gelu_tanh", "silu", "sigmoid"}) {
    const Epilogue epilogue = parsed(std::string(name) + "(acc) + scale * row[m]");
    for (const Type type : {Type::bf16, Type::f16, Type::f8e4m3}) {
      EXPECT_THAT(print_device_code(epilogue, Type::f32, type), HasSubstr("epilogue::narrow::"));
    }
    for (const Type type : {Type::f32, Type::f64}) {
      EXPECT_THAT(print_device_code(epilogue, Type::f32, type), Not(HasSubstr("narrow")));
    }
  }
  EXPECT_THAT(print_device_code(parsed("tanh(acc) + exp(acc)"), Type::f32, Type::bf16),
              Not(HasSubstr("narrow")));
}

TEST(DeviceCode, GeluIsShortestWhereTheResultHas8BitsOfPrecisionOrFewer) {
  const Epilogue epilogue = parsed("gelu(acc)");
  for (const Type type : {Type::bf16, Type::f8e4m3, Type::f8e5m2}) {
    EXPECT_THAT(print_device_code(epilogue, Type::f32, type), HasSubstr("narrow::gelu_erf_short("));
  }
  EXPECT_THAT(print_device_code(epilogue, Type::f32, Type::f16), HasSubstr("narrow::gelu_erf("));
}

TEST(DeviceCode, NamesTheMatrixThatAKernelMayBringInBulk) {
  Epilogue epilogue = parsed("gelu(acc + bias[n]) + residual[m,n]");
  for (EpilogueOperand& operand : epilogue.operands) operand.type = Type::bf16;
  const std::string code = print_device_code(epilogue, Type::f32, Type::bf16);
  EXPECT_THAT(code, HasSubstr(R"(  // residual, in bulk
  static constexpr bool kStaged = true;
  static constexpr bool kRestOfRowFits = true;
  static __device__ bool in_chunks(const KernelArguments& arguments) {
    return epilogue::in_chunks<bf16>(arguments.operands[1], arguments.n);
  }
  static __device__ const MatrixArgument& staged(const KernelArguments& arguments) {
    return arguments.operands[1];
  }
  static __device__ Pair load_rest(
      [[maybe_unused]] const KernelArguments& arguments, [[maybe_unused]] int64 b,
      [[maybe_unused]] int64 m, [[maybe_unused]] int64 n) {
    return {epilogue::load_two<bf16>(arguments.operands[0], n),
            {}};
  }
  static __device__ void set_staged(Pair& pair, unsigned bits) {
    pair.x1 = epilogue::two_from_bits<bf16>(bits);
  }
)"));
  const auto staged = staged_matrix(epilogue, Type::f32, Type::bf16);
  ASSERT_TRUE(staged.has_value());
  EXPECT_EQ(staged->operand, 1);
  EXPECT_EQ(staged->type, Type::bf16);
  // C, of another type than D but as wide.
  const auto c = staged_matrix(parsed("acc + 2 * c[m,n]"), Type::f16, Type::bf16);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->operand, -1);
  EXPECT_EQ(c->type, Type::f16);
}

TEST(DeviceCode, StagesNothingThatDoesNotFit) {
  const auto stages = [](std::string_view text, Type operand, Type d) {
    Epilogue epilogue = parsed(text);
    for (EpilogueOperand& o : epilogue.operands) o.type = operand;
    return staged_matrix(epilogue, Type::bf16, d).has_value();
  };
  EXPECT_TRUE(stages("acc + x[m,n]", Type::bf16, Type::f16));
  EXPECT_FALSE(stages("acc + x[m,n]", Type::f32, Type::bf16));              // wider than D
  EXPECT_FALSE(stages("acc + x[m,n]", Type::bf16, Type::f32));              // D is wider
  EXPECT_FALSE(stages("acc + x[n]", Type::bf16, Type::bf16));               // not laid out like D
  EXPECT_FALSE(stages("acc + s * x[m,n] + y[n]", Type::bf16, Type::bf16));  // too much beside it
}

TEST(DeviceCode, SaysWhetherARowOfWhatElseIsReadFitsInRegisters) {
  const auto fits = [](std::string_view text, Type rest) {
    Epilogue epilogue = parsed(text);
    for (EpilogueOperand& o : epilogue.operands) {
      o.type = o.name_view() == "x" ? Type::bf16 : rest;
    }
    const std::string code = print_device_code(epilogue, Type::bf16, Type::bf16);
    EXPECT_THAT(code, HasSubstr("kRestOfRowFits"));
    return code.find("kRestOfRowFits = true") != std::string::npos;
  };
  EXPECT_TRUE(fits("acc + x[m,n]", Type::bf16));
  EXPECT_TRUE(fits("acc * s + x[m,n]", Type::f32));
  EXPECT_TRUE(fits("acc + y[n] + x[m,n]", Type::f16));
  EXPECT_FALSE(fits("acc + y[n] + x[m,n]", Type::f32));   // two registers for two columns
  EXPECT_FALSE(fits("acc + y[m] + x[m,n]", Type::bf16));  // differs from row to row
  EXPECT_FALSE(fits("acc + y[m,n] + x[m,n]", Type::bf16));
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
  EXPECT_THAT(code, Not(HasSubstr("epilogue::load")));
  EXPECT_THAT(print_device_code(parsed("acc + c[m,n]"), Type::bf16, Type::f32),
              HasSubstr("epilogue::load<T, bf16>(arguments.c, b * arguments.c.batch + "
                        "m * arguments.c.row + n * arguments.c.column));"));
}

constexpr std::string_view kUsesStaged =
    "  if (!GeneratedEpilogue::in_chunks(arguments)) return;\n"
    "  auto rest = GeneratedEpilogue::load_rest(arguments, 0, 1, 2 * i);\n"
    "  const void* staged = GeneratedEpilogue::staged(arguments).data;\n"
    "  GeneratedEpilogue::set_staged(rest, static_cast<const unsigned*>(staged)[i]);\n"
    "  GeneratedEpilogue::apply_pair(x[2 * i], x[2 * i + 1], rest);\n";

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
      "  if (!GeneratedEpilogue::in_pairs(arguments)) return;\n"
      "  const auto pair = GeneratedEpilogue::load_pair(arguments, 0, 1, 2 * i);\n"
      "  GeneratedEpilogue::apply_pair(x[2 * i], x[2 * i + 1], pair);\n" +
      std::string(staged_matrix(epilogue, type, type) ? kUsesStaged : "") + "}\n}\n";
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
  for (const Type type : {Type::bf16, Type::f16}) {
    Epilogue epilogue = parsed("gelu(acc + x[n]) * y[b,m,n]");
    for (EpilogueOperand& operand : epilogue.operands) operand.type = type;
    expect_compiles(epilogue, type, "sm_90a");
  }
}

}  // namespace
}  // namespace tilewise
