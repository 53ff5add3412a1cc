// Element types and arithmetic, by the names that every face of tilewise uses.
#pragma once

#include <cstdint>
#include <string_view>

#include "tilewise/result.h"

namespace tilewise {

enum class Type : std::uint8_t { f64, f32, bf16, f16, f8e4m3, f8e5m2 };

// Arithmetic is named, never implied. f32 and f64: every product and sum in that format or wider.
// tf32: float32 operands rounded to 10 bits. f32_*: float32 accuracy from several lower products.
enum class Compute : std::uint8_t { f32, f64, tf32, f32_tf32x3, f32_bf16x6, f32_bf16x9 };

// Where the scale factors of low-precision operands come from (operands scale_a, scale_b).
enum class Scale : std::uint8_t { none, tensor, row_column, block_1x128_128x128 };

[[nodiscard]] constexpr int size_bytes(Type type) {
  switch (type) {
    case Type::f64:
      return 8;
    case Type::f32:
      return 4;
    case Type::bf16:
    case Type::f16:
      return 2;
    case Type::f8e4m3:
    case Type::f8e5m2:
      return 1;
  }
  return 0;
}

// Significand bits, the leading one included: the unit roundoff is 2^-bits.
[[nodiscard]] constexpr int significand_bits(Type type) {
  switch (type) {
    case Type::f64:
      return 53;
    case Type::f32:
      return 24;
    case Type::bf16:
      return 8;
    case Type::f16:
      return 11;
    case Type::f8e4m3:
      return 4;
    case Type::f8e5m2:
      return 3;
  }
  return 0;
}

[[nodiscard]] std::string_view to_string(Type type);
[[nodiscard]] std::string_view to_string(Compute compute);
[[nodiscard]] std::string_view to_string(Scale scale);

// Errors name the argument, the nearest match and all valid names.
[[nodiscard]] Result<Type> parse_type(std::string_view name);
[[nodiscard]] Result<Compute> parse_compute(std::string_view name);
[[nodiscard]] Result<Scale> parse_scale(std::string_view name);

}  // namespace tilewise
