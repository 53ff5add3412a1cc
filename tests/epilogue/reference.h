// The epilogue by its definition: one element at a time, with the C library's functions.
#pragma once

#include <cmath>
#include <vector>

#include "epilogue/functions.h"
#include "tilewise/epilogue.h"

namespace tilewise::reference {

using Real = long double;

template <class T>
T gelu(T x) {
  if (x == -INFINITY) return -T(0);
  return x / 2 * std::erfc(-x / std::sqrt(T(2)));
}
template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}
template <class T>
T silu(T x) {
  return x == -INFINITY ? -T(0) : x * sigmoid(x);
}
template <class T>
T gelu_tanh(T x) {
  const T pi = 3.14159265358979323846264338327950288L;
  const T u = std::sqrt(2 / pi) * (x + T(0.044715L) * x * x * x);
  return x == -INFINITY ? -T(0) : x * sigmoid(2 * u);
}

template <class T>
T apply(EpilogueOp op, T x, T y) {
  const bool nan = std::isnan(x) || std::isnan(y);
  switch (op) {
    case EpilogueOp::add:
      return x + y;
    case EpilogueOp::subtract:
      return x - y;
    case EpilogueOp::multiply:
      return x * y;
    case EpilogueOp::divide:
      return x / y;
    case EpilogueOp::minimum:
      return nan ? T(NAN) : std::fmin(x, y);
    case EpilogueOp::maximum:
      return nan ? T(NAN) : std::fmax(x, y);
    case EpilogueOp::negate:
      return -x;
    case EpilogueOp::relu:
      return x < 0 ? T(0) : x;
    case EpilogueOp::gelu_erf:
      return gelu(x);
    case EpilogueOp::gelu_tanh:
      return gelu_tanh(x);
    case EpilogueOp::silu:
      return silu(x);
    case EpilogueOp::sigmoid:
      return sigmoid(x);
    case EpilogueOp::tanh:
      return std::tanh(x);
    case EpilogueOp::exp:
      return std::exp(x);
    case EpilogueOp::abs:
      return std::fabs(x);
    default:
      return NAN;
  }
}

// operands[i]: the value of operand i at this element.
inline Real evaluate(const Epilogue& epilogue, Real acc, Real c,
                     const std::vector<Real>& operands) {
  std::vector<Real> stack;
  for (int i = 0; i < epilogue.num_instructions; ++i) {
    const auto [op, argument] = epilogue.instructions[i];
    if (op == EpilogueOp::acc)
      stack.push_back(acc);
    else if (op == EpilogueOp::source)
      stack.push_back(c);
    else if (op == EpilogueOp::operand)
      stack.push_back(operands[argument]);
    else if (op == EpilogueOp::constant)
      stack.push_back(epilogue.constants[argument]);
    else if (num_inputs(op) == 1)
      stack.back() = apply(op, stack.back(), Real(0));
    else {
      const Real y = stack.back();
      stack.pop_back();
      stack.back() = apply(op, stack.back(), y);
    }
  }
  return stack.back();
}

}  // namespace tilewise::reference
