#include "tilewise/mma.h"

#include <charconv>

#include "model/check_sizes.h"
#include "parts/fragment.cuh"

namespace tilewise {
namespace {

constexpr int kLargestExtent = 4096;

constexpr std::string_view kLayoutShapes =
    "m16n8k8 (tf32), m16n8k16 (bf16, f16), m16n8k32 (f8), and m64nNk8, k16 or k32 with N a "
    "multiple of 8 up to 256";

Error bad_shape(std::string_view text) {
  return {ErrorCode::bad_request, "mma: shape \"" + std::string(text) +
                                      "\" is not three extents of 1 to 4096; write it like "
                                      "16x8x16 or m16n8k16"};
}

template <class Inverse>
FragmentLayout make_layout(std::string operand, int rows, int columns, int threads,
                           Inverse inverse) {
  FragmentLayout layout;
  layout.operand = std::move(operand);
  layout.rows = rows;
  layout.columns = columns;
  layout.threads = threads;
  layout.elements_per_thread = rows * columns / threads;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const Holder holder = inverse(row, column);
      layout.holders.push_back({holder.thread, holder.element});
    }
  }
  return layout;
}

std::string operand_types(int k) {
  return k == 8 ? "tf32 operands" : k == 16 ? "16-bit operands" : "8-bit operands";
}

}  // namespace

std::string to_string(MmaShape shape) {
  return "m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) + "k" +
         std::to_string(shape.k);
}

Result<MmaShape> parse_mma_shape(std::string_view text) {
  MmaShape shape;
  int* const extents[] = {&shape.m, &shape.n, &shape.k};
  const bool named = text.starts_with('m');
  const char separators[] = {'m', named ? 'n' : 'x', named ? 'k' : 'x'};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 || named) {
      if (at == end || *at != separators[i]) return std::unexpected(bad_shape(text));
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, *extents[i]);
    if (error != std::errc{} || *extents[i] < 1 || *extents[i] > kLargestExtent) {
      return std::unexpected(bad_shape(text));
    }
    at = next;
  }
  if (at != end) return std::unexpected(bad_shape(text));
  return shape;
}

Result<MmaCount> mma_count(std::int64_t m, std::int64_t n, std::int64_t k, MmaShape shape) {
  if (auto ok = check_sizes("mma", m, n, k); !ok) return std::unexpected(ok.error());
  if (shape.m < 1 || shape.n < 1 || shape.k < 1)
    return std::unexpected(bad_shape(to_string(shape)));
  MmaCount result;
  result.shape = shape;
  if (m == 0 || n == 0 || k == 0) return result;
  const Count tiles_m = ceil_div(m, shape.m), tiles_n = ceil_div(n, shape.n),
              tiles_k = ceil_div(k, shape.k);
  result.padded_m = tiles_m * Count(shape.m);
  result.padded_n = tiles_n * Count(shape.n);
  result.padded_k = tiles_k * Count(shape.k);
  result.instructions = tiles_m * tiles_n * tiles_k;
  if (result.instructions.overflowed()) {
    return bad_request("mma: the number of instructions exceeds 2^127 - 1");
  }
  // Rounded once where both products are exact as doubles; else by dimension, so that none
  // overflows.
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const Count useful = Count(m) * n * k;
  const Count formed = result.padded_m * result.padded_n * result.padded_k;
  if (formed <= Count(kExact)) {
    result.utilization = useful.to_double() / formed.to_double();
    return result;
  }
  result.utilization = (static_cast<double>(m) / result.padded_m.to_double()) *
                       (static_cast<double>(n) / result.padded_n.to_double()) *
                       (static_cast<double>(k) / result.padded_k.to_double());
  return result;
}

Result<MmaLayout> mma_layout(MmaShape shape) {
  const bool packed_k = shape.k == 8 || shape.k == 16 || shape.k == 32;
  const bool mma = packed_k && shape.m == 16 && shape.n == 8;
  const bool wgmma =
      packed_k && shape.m == 64 && shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0;
  if (!mma && !wgmma) {
    return bad_request("mma: no register layout is known for " + to_string(shape) + "; known are " +
                       std::string(kLayoutShapes));
  }
  const int p = shape.k / 8;
  MmaLayout layout;
  layout.shape = shape;
  layout.title = (mma ? "mma.sync " : "wgmma ") + to_string(shape) + ", " + operand_types(shape.k) +
                 ", float32 accumulator";
  if (mma) {
    layout.fragments = {make_layout("a", 16, shape.k, kWarpLanes,
                                    [p](int r, int c) { return mma_a_holder(r, c, p); }),
                        make_layout("b", shape.k, 8, kWarpLanes,
                                    [p](int r, int c) { return mma_b_holder(r, c, p); }),
                        make_layout("c", 16, 8, kWarpLanes, mma_c_holder)};
  } else {
    layout.fragments = {make_layout("a", 64, shape.k, kWarpgroupThreads,
                                    [p](int r, int c) { return wgmma_a_holder(r, c, p); }),
                        make_layout("c", 64, shape.n, kWarpgroupThreads, wgmma_c_holder)};
  }
  return layout;
}

}  // namespace tilewise
