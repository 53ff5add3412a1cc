// The problem: what is computed. D[m,n] = epilogue(sum over k of A[m,k] B[k,n], C[m,n], operands).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tilewise/epilogue.h"
#include "tilewise/result.h"
#include "tilewise/types.h"

namespace tilewise {

// Sizes and strides are in elements and 64-bit. There is no pointer in a Problem: it is trivially
// copyable, comparable and hashable, and can be the key of a cache of plans.
struct Problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;

  Type type_a = Type::f32;
  Type type_b = Type::f32;
  Type type_c = Type::f32;
  Type type_d = Type::f32;

  Strides a;  // (m, k)
  Strides b;  // (k, n)
  Strides c;  // (m, n), read only if the epilogue reads c
  Strides d;  // (m, n)

  Compute compute = Compute::f32;
  Scale scale = Scale::none;
  std::int64_t groups = 0;       // 0, or the number of stacked B
  bool batch_invariant = false;  // a row's bits do not depend on the rows beside it

  Epilogue epilogue;

  bool operator==(const Problem&) const = default;
};

// A dense row-major problem, one type throughout; compute is f64 for f64 and f32 otherwise.
[[nodiscard]] Problem make_problem(std::int64_t m, std::int64_t n, std::int64_t k,
                                   Type type = Type::f32);

// Checks sizes (0 or more), strides (a row no shorter than its length, or the same for columns),
// and that all extents and byte offsets fit 63 bits. The message names the argument.
[[nodiscard]] Result<void> validate(const Problem& problem);

// 2 m n k batch.
[[nodiscard]] double num_flops(const Problem& problem);

[[nodiscard]] std::size_t hash_value(const Problem& problem);

}  // namespace tilewise

template <>
struct std::hash<tilewise::Problem> {
  std::size_t operator()(const tilewise::Problem& p) const { return tilewise::hash_value(p); }
};
