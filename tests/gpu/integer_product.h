// Products of small whole numbers, whose results are known exactly in every type.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewise/problem.h"

namespace tilewise::gpu {

// Elements of A and B as functions of their place: whole numbers from -2 to 2.
[[nodiscard]] int integer_a(std::int64_t batch, std::int64_t m, std::int64_t k);
[[nodiscard]] int integer_b(std::int64_t batch, std::int64_t k, std::int64_t n);

// The sums over k, (batch, m, n) row-major.
[[nodiscard]] std::vector<std::int64_t> integer_product(const Problem& problem);

// A value in a type's bits, rounded to nearest even, in the low bytes.
[[nodiscard]] std::uint64_t encode(Type type, double value);

// A strided matrix as it lies in memory: every byte 0xff except its elements.
struct HostMatrix {
  std::vector<unsigned char> bytes;
  std::int64_t first = 0;  // byte of element (0,0) of batch 0

  // Reserves `offset_bytes` before and some bytes after.
  HostMatrix(const Strides& strides, std::int64_t rows, std::int64_t columns, std::int64_t batch,
             Type type, std::int64_t offset_bytes);
  void set(std::int64_t at, Type type, double value);  // at: element offset
  [[nodiscard]] std::uint64_t get(std::int64_t at, Type type) const;
};

}  // namespace tilewise::gpu
