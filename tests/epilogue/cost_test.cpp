#include "epilogue/cost.h"

#include <gtest/gtest.h>

namespace tilewise {
namespace {

EpilogueCost cost_of(std::string_view text, const EpilogueShape& shape, Type type = Type::f32) {
  Epilogue epilogue = parse_epilogue(text).value();
  for (EpilogueOperand& operand : epilogue.operands) operand.type = type;
  return epilogue_cost(epilogue, shape);
}

constexpr EpilogueShape kShape{
    .m = 30, .n = 70, .batch = 5, .type_c = Type::f32, .type_d = Type::bf16, .c_is_shared = false};
constexpr std::int64_t kOutputs = 30 * 70 * 5;

TEST(EpilogueCost, OperandsCountTheirDistinctElements) {
  const EpilogueCost cost =
      cost_of("s*acc + x[n] + y[m] + z[m,n] + u[b,n] + v[b,m,n] + c[m,n]", kShape, Type::f16);
  const std::int64_t elements[] = {1, 70, 30, 30 * 70, 5 * 70, kOutputs};
  std::int64_t bytes = kOutputs * 4;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(cost.operands[i].elements, Count(elements[i])) << i;
    EXPECT_EQ(cost.operands[i].bytes, Count(2 * elements[i])) << i;
    EXPECT_EQ(cost.operands[i].fetches, Count(kOutputs)) << i;
    bytes += 2 * elements[i];
  }
  EXPECT_EQ(cost.c.bytes, Count(kOutputs * 4));
  EXPECT_EQ(cost.fused_bytes, Count(bytes));
}

TEST(EpilogueCost, ASharedCIsOneMatrix) {
  EpilogueShape shape = kShape;
  shape.c_is_shared = true;
  EXPECT_EQ(cost_of("acc + c[m,n]", shape).c.elements, Count(30 * 70));
}

TEST(EpilogueCost, TheIdentityAndEmptyOutputsCostNothing) {
  const EpilogueCost identity = cost_of("acc", kShape);
  EXPECT_EQ(identity.fused_bytes, Count(0));
  EXPECT_EQ(identity.passes, 0);
  EXPECT_EQ(identity.saved_bytes, Count(0));
  EpilogueShape empty = kShape;
  empty.n = 0;
  EXPECT_EQ(cost_of("gelu(acc + x[m,n] + c[m,n])", empty).fused_bytes, Count(0));
  EXPECT_EQ(cost_of("gelu(acc + x[m,n] + c[m,n])", empty).unfused_bytes, Count(0));
}

// bias: reads the product and the vector, writes; activation: reads, writes. Fusing saves four
// transfers of the whole output.
TEST(EpilogueCost, UnfusedPassesReadAndWriteTheIntermediate) {
  const EpilogueCost cost = cost_of("gelu(acc + bias[n])", kShape, Type::bf16);
  EXPECT_EQ(cost.passes, 2);
  EXPECT_EQ(cost.unfused_bytes, Count(4 * kOutputs * 2 + 70 * 2));
  EXPECT_EQ(cost.saved_bytes, Count(4 * kOutputs * 2));
}

TEST(EpilogueCost, AValueUsedTwiceIsReadTwice) {
  const EpilogueCost cost = cost_of("acc * sigmoid(acc)", kShape);
  EXPECT_EQ(cost.passes, 2);
  EXPECT_EQ(cost.unfused_bytes, Count(5 * kOutputs * 2));
}

TEST(EpilogueCost, ConstantsAreNoPass) {
  EXPECT_EQ(cost_of("acc * (1 / -(3))", kShape).passes, 1);
  EXPECT_EQ(cost_of("2 + 3", kShape).passes, 0);
  const EpilogueCost cost = cost_of("acc + (bias[n] * 2)", kShape, Type::bf16);
  EXPECT_EQ(cost.passes, 2);
  EXPECT_EQ(cost.unfused_bytes, Count(2 * 70 * 2 + 70 * 2 + 2 * kOutputs * 2));
}

TEST(EpilogueCost, TilesReadWhatTheyNeedOnce) {
  const Epilogue epilogue = parse_epilogue("s*acc + x[n] + y[m] + z[m,n]").value();
  const std::int64_t reads[] = {3 * 4 * 5, 70 * 3 * 5, 30 * 4 * 5, kOutputs};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(operand_reads(epilogue.operands[i], kShape, Count(3), Count(4)), Count(reads[i]));
  }
}

}  // namespace
}  // namespace tilewise
