#include "gpu/tensor_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewise/epilogue.h"

namespace tilewise::gpu {
namespace {

using ::testing::HasSubstr;

TEST(TensorMaps, StridesOfSixteenBytesAreFine) {
  EXPECT_TRUE(check_bulk_strides(make_problem(3, 64, 128, Type::bf16)).has_value());
  Problem p = make_problem(3, 64, 128, Type::f8e4m3);
  p.b = {.row = 1, .column = 128};
  EXPECT_TRUE(check_bulk_strides(p).has_value());
}

TEST(TensorMaps, ARefusalNamesTheStrideAndTheWayOut) {
  Problem p = make_problem(8, 64, 64, Type::bf16);
  p.a.row = 1021;
  EXPECT_EQ(
      check_bulk_strides(p).error().message,
      "matmul: row stride of A is 1021 bf16 elements (2042 bytes), not a multiple of 16 bytes, "
      "which the bulk copy needs; pad to 1024, or take schedule \"mma\"");
  p = make_problem(8, 64, 64, Type::f32);
  EXPECT_THAT(check_bulk_strides(p).error().message,
              HasSubstr("B is f32 and not contiguous along k"));
  p = make_problem(8, 64, 64, Type::bf16);
  p.b = {.row = 2, .column = 130};
  EXPECT_THAT(check_bulk_strides(p).error().message, HasSubstr("neither rows nor columns of B"));
  p = make_problem(8, 64, 64, Type::bf16);
  p.batch = 2;
  p.b.batch = 4100;
  EXPECT_THAT(check_bulk_strides(p).error().message, HasSubstr("batch stride of B is 4100"));
}

TEST(TensorMaps, ExtentsThatCoordinatesDoNotReachAreRefused) {
  // Coordinates are 32-bit integers on the device, those past a tile's end too.
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1024;
  EXPECT_TRUE(check_bulk_strides(make_problem(kMost, 64, 64, Type::bf16)).has_value());
  EXPECT_EQ(check_bulk_strides(make_problem(kMost + 1, 64, 64, Type::bf16)).error().message,
            "matmul: A is 2147482625 x 64, and the bulk copy addresses at most 2147482624 a "
            "dimension; split it, or take schedule \"mma\"");
  EXPECT_THAT(check_bulk_strides(make_problem(8, kMost + 8, 64, Type::bf16)).error().message,
              HasSubstr("B is 64 x 2147482632"));
}

TEST(TensorMaps, WithoutKNeitherANorBIsEncoded) {
  // The driver would refuse null addresses; without one, a map of D would fail.
  Problem p = make_problem(8, 64, 0, Type::bf16);
  LaunchInfo info;
  info.bulk = true;
  const auto maps = encode_tensor_maps(p, info, KernelArguments{});
  EXPECT_TRUE(maps.has_value()) << maps.error().message;
}

TEST(TensorMaps, AnEpilogueMatrixWhoseRowsRepeatOrOverlapIsNotEncoded) {
  // Nothing is left to encode: D's rows are not on multiples of 16 bytes. The driver would refuse.
  Problem p = make_problem(8, 64, 0, Type::bf16);
  p.d.row = 65;
  p.epilogue = parse_epilogue("acc + x[m,n]").value();
  p.epilogue.operands[0].type = Type::bf16;
  LaunchInfo info;
  info.bulk = true;
  info.d_box_inner = info.d_box_outer = 64;
  info.d_swizzle = 128;
  alignas(16) static char data[16];
  for (const MatrixArgument& matrix : {MatrixArgument{data, 0, 1, 0}, MatrixArgument{data, 8, 1, 0},
                                       MatrixArgument{data, 64, 1, -512}}) {
    KernelArguments arguments{};
    arguments.d = {data, 65, 1, 0};
    arguments.operands[0] = matrix;
    const auto maps = encode_tensor_maps(p, info, arguments);
    EXPECT_TRUE(maps.has_value()) << maps.error().message;
  }
}

TEST(TensorMaps, AddressesAreChecked) {
  alignas(16) static char data[32];
  EXPECT_TRUE(check_bulk_address("A", data).has_value());
  EXPECT_THAT(check_bulk_address("A", data + 2).error().message, HasSubstr("2 bytes past"));
}

}  // namespace
}  // namespace tilewise::gpu
