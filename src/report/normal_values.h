// Random matrices: the same numbers for the same seed on any machine, for any number of threads.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "io/matrix.h"
#include "tilewise/result.h"

namespace tilewise {

// A bijection of 64 bits whose outputs look independent (the finaliser of SplitMix64).
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Mean 0, variance 1: the number of ones among 64 random bits, smoothed by a uniform value. It is
// within 0.0013 of the normal distribution function, takes integer operations and one
// multiplication, and so has the same bits everywhere (log and cos of a library do not).
[[nodiscard]] constexpr double normal_value(std::uint64_t key, std::uint64_t index) {
  constexpr double kScale = 0.24935149047701483;  // 1 / sqrt(64 / 4 + 1 / 12)
  const std::uint64_t bits = mixed_bits(key ^ mixed_bits(index));
  const double uniform = static_cast<double>(mixed_bits(bits) >> 11) * 0x1p-53;
  return (static_cast<double>(std::popcount(bits)) - 32.5 + uniform) * kScale;
}

// A dense matrix of such values, rounded to the type. stream: tells the operands of one seed apart.
[[nodiscard]] Result<Matrix> normal_matrix(std::int64_t rows, std::int64_t columns, Type type,
                                           std::uint64_t seed, std::uint64_t stream,
                                           std::string_view what);

}  // namespace tilewise
