#include "report/reference_epilogue.h"

#include <array>
#include <cmath>
#include <limits>

#include "epilogue/element.h"

namespace tilewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Allowance for exp, erf and tanh as kernels compute them, in units of the result's rounding.
constexpr double kFunctionUlps = 8;

double unit_roundoff(Type type) { return std::ldexp(1.0, -significand_bits(type)); }

double largest_finite(Type type) {
  switch (type) {
    case Type::f64:
      return std::numeric_limits<double>::max();
    case Type::f32:
      return std::numeric_limits<float>::max();
    case Type::bf16:
      return 0x1.fep127;
    case Type::f16:
      return 65504;
    case Type::f8e4m3:
      return 448;
    case Type::f8e5m2:
      return 57344;
  }
  return 0;
}

double smallest_subnormal(Type type) {
  switch (type) {
    case Type::f64:
      return 0x1p-1074;
    case Type::f32:
      return 0x1p-149;
    case Type::bf16:
      return 0x1p-133;
    case Type::f16:
      return 0x1p-24;
    case Type::f8e4m3:
      return 0x1p-9;
    case Type::f8e5m2:
      return 0x1p-16;
  }
  return 0;
}

// The type in which sums and epilogue are computed.
Type arithmetic_type(const Problem& problem) {
  return problem.type_a == Type::f64 ? Type::f64 : Type::f32;
}

// One more rounding to the type: to nearest, with its subnormals and its end.
Bounded rounded(Bounded x, Type type) {
  if (std::isfinite(x.value)) {
    x.error += unit_roundoff(type) * (std::fabs(x.value) + x.error) + smallest_subnormal(type);
  }
  return x;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A function whose slope is at most `slope`; scale: what its own rounding is relative to.
Bounded smooth(Bounded x, double value, double slope, double scale, double unit) {
  return {value, slope * x.error + kFunctionUlps * unit * (scale + slope * x.error)};
}

Bounded unary(EpilogueOp op, Bounded x, double unit) {
  const double v = x.value;
  switch (op) {
    case EpilogueOp::negate:
      return {-v, x.error};
    case EpilogueOp::relu:
      return {v < 0 ? 0 : v, x.error};
    case EpilogueOp::abs:
      return {std::fabs(v), x.error};
    case EpilogueOp::gelu_erf: {
      // At -infinity the product 0 times infinity stands for 0.
      const double value =
          std::isinf(v) ? (v > 0 ? v : 0) : v * 0.5 * std::erfc(-v / std::sqrt(2.0));
      return smooth(x, value, 1.13, std::fabs(v), unit);
    }
    case EpilogueOp::gelu_tanh: {
      constexpr double kScale = 0.79788456080286535588, kCubic = 0.044715;
      const double value =
          std::isinf(v) ? (v > 0 ? v : 0) : v * sigmoid(2 * kScale * (v + kCubic * v * v * v));
      return smooth(x, value, 1.13, std::fabs(v), unit);
    }
    case EpilogueOp::silu: {
      const double value = std::isinf(v) ? (v > 0 ? v : 0) : v * sigmoid(v);
      return smooth(x, value, 1.1, std::fabs(v), unit);
    }
    case EpilogueOp::sigmoid:
      return smooth(x, sigmoid(v), 0.25, sigmoid(v), unit);
    case EpilogueOp::tanh:
      return smooth(x, std::tanh(v), 1, std::fabs(std::tanh(v)), unit);
    case EpilogueOp::exp: {
      const double value = std::exp(v);
      const double grown = value * std::expm1(x.error);
      return {value, grown + kFunctionUlps * unit * (1 + std::fabs(v)) * (value + grown)};
    }
    default:
      return x;
  }
}

Bounded binary(EpilogueOp op, Bounded x, Bounded y, double unit) {
  const auto result = [&](double value, double error) {
    return Bounded{value, error + unit * (std::fabs(value) + error)};
  };
  const double size_x = std::fabs(x.value), size_y = std::fabs(y.value);
  switch (op) {
    case EpilogueOp::add:
      return result(x.value + y.value, x.error + y.error);
    case EpilogueOp::subtract:
      return result(x.value - y.value, x.error + y.error);
    case EpilogueOp::multiply:
      return result(x.value * y.value, size_x * y.error + size_y * x.error + x.error * y.error);
    case EpilogueOp::divide: {
      if (y.error > 0 && size_y <= y.error) return {x.value / y.value, kInfinity};
      const double value = x.value / y.value;
      const double error = x.error + std::fabs(value) * y.error;
      return result(value, error == 0 ? 0 : error / (size_y - y.error));
    }
    case EpilogueOp::minimum:
    case EpilogueOp::maximum: {
      const bool smaller = (x.value < y.value) == (op == EpilogueOp::minimum);
      const double value = std::isnan(x.value) || smaller ? x.value : y.value;
      return {value, std::fmax(x.error, y.error)};
    }
    default:
      return x;
  }
}

double load(Type type, const void* data, const Strides& strides, const OutputPlace& place) {
  double value = 0;
  load_elements(type, data,
                place.b * strides.batch + place.m * strides.row + place.n * strides.column, 1, 1,
                &value);
  return value;
}

}  // namespace

Bounded reference_epilogue(const Problem& problem, const OutputPlace& place, Bounded accumulator) {
  const Epilogue& epilogue = problem.epilogue;
  const Type arithmetic = arithmetic_type(problem);
  const double unit = unit_roundoff(arithmetic);
  const auto exact_or_rounded = [&](double value, Type type) {
    const bool narrowed = type == Type::f64 && arithmetic != Type::f64;
    return Bounded{value, narrowed && std::isfinite(value) ? unit * std::fabs(value) : 0};
  };
  std::array<Bounded, Epilogue::kMaxDepth + 1> stack{};
  std::size_t depth = 0;
  for (std::size_t i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    switch (op) {
      case EpilogueOp::acc:
        stack[depth++] = accumulator;
        break;
      case EpilogueOp::constant:
        stack[depth++] = exact_or_rounded(epilogue.constants[argument], Type::f64);
        break;
      case EpilogueOp::operand: {
        const EpilogueOperand& operand = epilogue.operands[argument];
        stack[depth++] = exact_or_rounded(
            load(operand.type, place.operands[argument], operand.strides, place), operand.type);
        break;
      }
      case EpilogueOp::source:
        stack[depth++] =
            exact_or_rounded(load(problem.type_c, place.c, problem.c, place), problem.type_c);
        break;
      case EpilogueOp::add:
      case EpilogueOp::subtract:
      case EpilogueOp::multiply:
      case EpilogueOp::divide:
      case EpilogueOp::minimum:
      case EpilogueOp::maximum:
        --depth;
        stack[depth - 1] = binary(op, stack[depth - 1], stack[depth], unit);
        break;
      default:
        stack[depth - 1] = unary(op, stack[depth - 1], unit);
    }
    // Past the largest number of the arithmetic the result may be infinite or not.
    Bounded& top = stack[depth - 1];
    if (std::isfinite(top.value) && std::fabs(top.value) + top.error > largest_finite(arithmetic)) {
      top.error = kInfinity;
    }
  }
  const bool stored_as_it_is = problem.type_d == arithmetic;
  return stored_as_it_is ? stack[0] : rounded(stack[0], problem.type_d);
}

bool is_within(double computed, const Bounded& expected, Type type) {
  if (std::isnan(expected.value)) return std::isnan(computed);
  if (expected.error == kInfinity) return true;
  const double largest = largest_finite(type);
  const bool saturates = type == Type::f8e4m3 || type == Type::f8e5m2;
  double value = expected.value;
  if (saturates && std::fabs(value) > largest) value = std::copysign(largest, value);
  if (std::isinf(value)) return computed == value;
  if (std::isinf(computed)) {
    return std::fabs(value) + expected.error >= largest &&
           std::signbit(computed) == std::signbit(value);
  }
  return std::fabs(computed - value) <= expected.error;
}

double accumulator_error(const Problem& problem, const AccumulatorArithmetic& arithmetic,
                         double magnitude) {
  const bool is_double = arithmetic_type(problem) == Type::f64;
  const Type type = is_double ? Type::f64 : Type::f32;
  const auto gamma = [](double terms, double unit) {
    const double x = terms * unit;
    return x < 1 ? x / (1 - x) : kInfinity;
  };
  const double k = static_cast<double>(problem.k);
  double operands = 0;  // relative rounding of the factors of a product
  bool truncates = arithmetic.gpu && !is_double;
  switch (problem.compute) {
    case Compute::f32:
    case Compute::f64:
      break;
    case Compute::tf32:
      operands = 0x1p-9 + 0x1p-20;
      truncates = true;
      break;
    case Compute::f32_tf32x3:
      operands = 3 * 0x1p-22;
      truncates = true;
      break;
    case Compute::f32_bf16x6:
      operands = 4 * 0x1p-24;
      truncates = true;
      break;
    case Compute::f32_bf16x9:
      operands = 0x1p-24;
      truncates = true;
      break;
  }
  const double unit = unit_roundoff(type) * (truncates ? 2 : 1);
  const bool blocked = arithmetic.block_k > 0 && arithmetic.block_k < problem.k;
  const double block = static_cast<double>(arithmetic.block_k);
  double sums = gamma(blocked ? block + std::ceil(k / block) : k, unit);
  const bool fp8 = problem.type_a == Type::f8e4m3 || problem.type_a == Type::f8e5m2;
  if (fp8 && arithmetic.gpu) {
    constexpr double kTensorCoreUnit = 0x1p-13;  // 13 fraction bits, truncated
    const double inside = arithmetic.promote_every > 0 ? std::fmin(k, arithmetic.promote_every) : k;
    sums += gamma(inside, kTensorCoreUnit);
  }
  // Products below the normal range lose up to the smallest subnormal each.
  return (sums + operands) * magnitude + k * smallest_subnormal(type);
}

}  // namespace tilewise
