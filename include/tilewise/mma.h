// Tensor-core instructions: how many a product takes, which thread holds which element, and a
// simulation of a product made of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/count.h"
#include "tilewise/result.h"

namespace tilewise {

// One instruction multiplies (m, k) by (k, n). The default is mma.sync m16n8k16 of 16-bit operands.
struct MmaShape {
  int m = 16, n = 8, k = 16;
  bool operator==(const MmaShape&) const = default;
};

// "16x8x16" or "m16n8k16". Errors: another form; an extent outside 1 to 4096.
[[nodiscard]] Result<MmaShape> parse_mma_shape(std::string_view text);
[[nodiscard]] std::string to_string(MmaShape shape);  // "m16n8k16"

struct MmaCount {
  MmaShape shape;
  Count padded_m, padded_n, padded_k;  // each dimension rounded up to the instruction's
  Count instructions;
  double utilization = 0;  // MNK / (instructions m n k): useful share of the products formed
};

// Each dimension is padded up: 17 in M or K costs as much as 32 with m16n8k16, in N as 24. Where M,
// N or K is 0: no instruction, utilization 0. Errors: a negative size, a shape extent under 1, a
// count over 2^127 - 1.
[[nodiscard]] Result<MmaCount> mma_count(std::int64_t m, std::int64_t n, std::int64_t k,
                                         MmaShape shape = {});

// Where one element of a fragment lives: the lane of the warp (wgmma: the thread of the warpgroup)
// and its place among that thread's elements of the operand.
struct FragmentHolder {
  int thread = 0, element = 0;
  bool operator==(const FragmentHolder&) const = default;
};

// holders: (rows, columns), row-major. A is (m, k), B (k, n), C (m, n).
struct FragmentLayout {
  std::string operand;  // "a", "b", "c"
  int rows = 0, columns = 0;
  int threads = 0, elements_per_thread = 0;
  std::vector<FragmentHolder> holders;
  [[nodiscard]] FragmentHolder at(int row, int column) const {
    return holders[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(column)];
  }
};

struct MmaLayout {
  MmaShape shape;
  std::string title;  // "mma.sync m16n8k16, 16-bit operands, float32 accumulator"
  std::vector<FragmentLayout> fragments;
};

// m16n8k8 (tf32), m16n8k16 (bf16, f16), m16n8k32 (f8): a, b and c of mma.sync. m64nNk8, k16, k32
// with N a multiple of 8 up to 256: a (from registers) and c of wgmma, whose b comes from shared
// memory. Errors: another shape (the message lists these). Source: the PTX ISA;
// kernels/parts/fragment.cuh.
[[nodiscard]] Result<MmaLayout> mma_layout(MmaShape shape);

struct MmaSimulation {
  std::vector<double> d;  // (m, n), row-major
  std::uint64_t instructions = 0;
  std::uint64_t products_formed = 0;  // padding included
  std::uint64_t products_useful = 0;  // both elements exist
};

// a (m, k) and b (k, n), dense and row-major: decomposed into instructions with zero padding. Each
// operand passes through the registers of its threads (shapes of mma_layout; others are direct) and
// sums run in float32 in ascending k. Errors: what mma_count refuses; spans of other sizes; more
// than 2^32 products. Cost: O(products formed).
[[nodiscard]] Result<MmaSimulation> simulate_mma(std::int64_t m, std::int64_t n, std::int64_t k,
                                                 std::span<const double> a,
                                                 std::span<const double> b, MmaShape shape = {});

}  // namespace tilewise
