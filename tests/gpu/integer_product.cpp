#include "gpu/integer_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tilewise::gpu {
namespace {

int mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<int>((x ^ (x >> 31)) % 5) - 2;
}

struct Format {
  int exponent_bits, fraction_bits;
};

// Round to nearest even; the values of these tests neither overflow nor vanish.
std::uint64_t encode_small(Format format, double value) {
  if (value == 0) return 0;
  const std::uint64_t sign = value < 0 ? 1 : 0;
  int exponent = 0;
  const double significand = 2 * std::frexp(std::abs(value), &exponent);  // [1, 2)
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  // nearbyint rounds to even; a carry into the next power of two adds one to the exponent field.
  const auto fraction =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(significand - 1, format.fraction_bits)));
  const auto biased = static_cast<std::uint64_t>(exponent - 1 + bias);
  return (sign << (format.exponent_bits + format.fraction_bits)) +
         (biased << format.fraction_bits) + fraction;
}

}  // namespace

int integer_a(std::int64_t batch, std::int64_t m, std::int64_t k) {
  return mixed(static_cast<std::uint64_t>(batch * 1000003 + m * 7919 + k + 1));
}
int integer_b(std::int64_t batch, std::int64_t k, std::int64_t n) {
  return mixed(static_cast<std::uint64_t>(batch * 999983 + k * 104729 + n + 77777777));
}

std::vector<std::int64_t> integer_product(const Problem& p) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(p.batch * p.m * p.n), 0);
  std::vector<int> row(static_cast<std::size_t>(p.n));
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t n = 0; n < p.n; ++n) row[static_cast<std::size_t>(n)] = integer_b(b, k, n);
      for (std::int64_t m = 0; m < p.m; ++m) {
        const int a = integer_a(b, m, k);
        std::int64_t* to = &sums[static_cast<std::size_t>((b * p.m + m) * p.n)];
        for (std::int64_t n = 0; n < p.n; ++n) to[n] += a * row[static_cast<std::size_t>(n)];
      }
    }
  }
  return sums;
}

std::uint64_t encode(Type type, double value) {
  switch (type) {
    case Type::f64:
      return std::bit_cast<std::uint64_t>(value);
    case Type::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Type::bf16:
      return encode_small({8, 7}, value);
    case Type::f16:
      return encode_small({5, 10}, value);
    case Type::f8e4m3:
      return encode_small({4, 3}, value);
    case Type::f8e5m2:
      return encode_small({5, 2}, value);
  }
  return 0;
}

HostMatrix::HostMatrix(const Strides& s, std::int64_t rows, std::int64_t columns,
                       std::int64_t batch, Type type, std::int64_t offset_bytes) {
  const std::int64_t last = std::max<std::int64_t>(rows - 1, 0) * s.row +
                            std::max<std::int64_t>(columns - 1, 0) * s.column +
                            std::max<std::int64_t>(batch - 1, 0) * s.batch;
  constexpr std::int64_t kCanaryBytes = 64;
  bytes.assign(
      static_cast<std::size_t>(offset_bytes + (last + 1) * size_bytes(type) + kCanaryBytes), 0xff);
  first = offset_bytes;
}

void HostMatrix::set(std::int64_t at, Type type, double value) {
  const std::uint64_t bits = encode(type, value);
  std::memcpy(&bytes[static_cast<std::size_t>(first + at * size_bytes(type))], &bits,
              static_cast<std::size_t>(size_bytes(type)));
}

std::uint64_t HostMatrix::get(std::int64_t at, Type type) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &bytes[static_cast<std::size_t>(first + at * size_bytes(type))],
              static_cast<std::size_t>(size_bytes(type)));
  return bits;
}

}  // namespace tilewise::gpu
