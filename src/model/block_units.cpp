#include "model/block_units.h"

#include <algorithm>

#include "parts/fragment.cuh"
#include "tilewise/access.h"

namespace tilewise {
namespace {

constexpr std::int64_t kWavefrontBytes = 128;
constexpr std::int64_t kSectorBytes = 32;

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

struct Position {
  std::int64_t m = 0, n = 0;
};

// Thread tiles of a block and how the lanes of its first warp lie over them.
class LaneGrid {
 public:
  LaneGrid(const Schedule& s, const Footprint& f) {
    if (const Tile* thread = find_tile(s, Level::thread)) thread_ = *thread;
    thread_.m = std::max<std::int64_t>(thread_.m, 1);
    thread_.n = std::max<std::int64_t>(thread_.n, 1);
    parent_ = {f.block_m, f.block_n};
    if (const Tile* warp = find_tile(s, Level::warp);
        warp != nullptr && warp->m > 0 && warp->n > 0) {
      parent_ = {warp->m, warp->n};
    }
    threads_ = {divide_up(parent_.m, thread_.m), divide_up(parent_.n, thread_.n)};
    interleaved_ = threads_.m * threads_.n == kWarpLanes && threads_.m >= 2 && threads_.n >= 2;
  }

  [[nodiscard]] const Tile& thread() const { return thread_; }
  [[nodiscard]] std::int64_t piece_m() const { return thread_.m / thread_.repeat_m; }
  [[nodiscard]] std::int64_t piece_n() const { return thread_.n / thread_.repeat_n; }

  // Row of A's tile that is element i of a lane's thread tile; column of B's tile likewise.
  [[nodiscard]] std::int64_t row(int lane, std::int64_t i) const {
    return element(piece_m(), threads_.m, at(lane).m, i);
  }
  [[nodiscard]] std::int64_t column(int lane, std::int64_t i) const {
    return element(piece_n(), threads_.n, at(lane).n, i);
  }

 private:
  [[nodiscard]] static std::int64_t element(std::int64_t piece, std::int64_t threads,
                                            std::int64_t j, std::int64_t i) {
    return i / piece * threads * piece + j * piece + i % piece;
  }

  // Bits 0 and 1 of the lane run along n and m, so that wide reads of A and of B are shared by
  // pairs.
  [[nodiscard]] Position at(int lane) const {
    if (!interleaved_) return {lane / threads_.n, lane % threads_.n};
    const std::int64_t low_n = lane % 2, low_m = lane / 2 % 2, high = lane / 4;
    if (threads_.m >= threads_.n) {
      const std::int64_t rest = threads_.m / 2;
      return {low_m + high % rest * 2, low_n + high / rest * 2};
    }
    const std::int64_t rest = threads_.n / 2;
    return {low_m + high / rest * 2, low_n + high % rest * 2};
  }

  Tile thread_;
  Position parent_, threads_;
  bool interleaved_ = false;
};

// Elements of one access: as wide as asked for, at most a contiguous piece.
std::int64_t vector_elements(int bytes, int element_bytes, std::int64_t piece) {
  std::int64_t v = std::max<std::int64_t>(1, bytes / element_bytes);
  while (piece % v != 0) v /= 2;
  return v;
}

double lane_wavefronts(const Problem& p, const Schedule& s, const Footprint& f) {
  const LaneGrid grid(s, f);
  const int bytes = size_bytes(p.type_a);
  double wavefronts = 0;
  const bool by_columns = grid.thread().n == 1;  // A as it lies in global memory, k contiguous
  const std::int64_t va =
      vector_elements(s.vector_bytes.shared_a, bytes, by_columns ? f.block_k : grid.piece_m());
  for (std::int64_t i = 0; i < grid.thread().m; i += by_columns ? 1 : va) {
    const auto access = warp_access(static_cast<int>(va) * bytes, [&](int lane) {
      return grid.row(lane, i) * bytes * (by_columns ? f.block_k : 1);
    });
    wavefronts += static_cast<double>(shared_access(access).wavefronts) /
                  static_cast<double>(by_columns ? va : 1);
  }
  const std::int64_t vb = vector_elements(s.vector_bytes.shared_b, bytes, grid.piece_n());
  for (std::int64_t i = 0; i < grid.thread().n; i += vb) {
    const auto access = warp_access(static_cast<int>(vb) * bytes,
                                    [&](int lane) { return grid.column(lane, i) * bytes; });
    wavefronts += shared_access(access).wavefronts;
  }
  return wavefronts * static_cast<double>(divide_up(f.block.threads, kWarpLanes));
}

double operand_bytes_per_k(const Problem& p, std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(rows * size_bytes(p.type_a) + columns * size_bytes(p.type_b));
}

// Sectors of `rows` contiguous runs of `length` elements cut into segments of `segment` elements.
Count strip_sectors(std::int64_t rows, std::int64_t length, std::int64_t segment,
                    std::int64_t pitch_bytes, int element_bytes) {
  const std::int64_t segment_bytes = segment * element_bytes;
  const std::int64_t full = length / segment;
  Count sectors;
  for (std::int64_t i = 0; i < std::min(full, kSectorBytes); ++i) {
    // Segments i, i + 32, i + 64... start at the same place in a sector.
    const Count repeats = (Count(full) - Count(i) + Count(kSectorBytes - 1)) / Count(kSectorBytes);
    sectors += Count(tile_sectors(std::min(rows, kSectorBytes), segment_bytes,
                                  i * segment_bytes % kSectorBytes, pitch_bytes)) *
               Count(rows / kSectorBytes) * repeats * Count(rows >= kSectorBytes);
    sectors += Count(tile_sectors(rows % kSectorBytes, segment_bytes,
                                  i * segment_bytes % kSectorBytes, pitch_bytes)) *
               repeats;
  }
  const std::int64_t offset = full % kSectorBytes * (segment_bytes % kSectorBytes) % kSectorBytes;
  const std::int64_t rest = (length - full * segment) * element_bytes;
  sectors += Count(tile_sectors(std::min(rows, kSectorBytes), rest, offset, pitch_bytes)) *
             Count(rows / kSectorBytes);
  sectors += Count(tile_sectors(rows % kSectorBytes, rest, offset, pitch_bytes));
  return sectors;
}

// An operand of `across` lines by `along` elements where it is row-major; a unit stride the other
// way swaps the roles; no unit stride: one sector an element.
Count operand_sectors(std::int64_t rows, std::int64_t columns, const Strides& strides,
                      std::int64_t tile_rows, std::int64_t tile_columns, int bytes) {
  if (strides.column == 1) {
    return strip_sectors(rows, columns, tile_columns, strides.row * bytes, bytes);
  }
  if (strides.row == 1) {
    return strip_sectors(columns, rows, tile_rows, strides.column * bytes, bytes);
  }
  return Count(rows) * Count(columns);
}

}  // namespace

double shared_wavefronts_per_k(const Problem& p, const Schedule& s, const Footprint& f) {
  switch (arithmetic_of(s)) {
    case Arithmetic::lanes:
      return find_tile(s, Level::block) == nullptr ? 0 : lane_wavefronts(p, s, f);
    case Arithmetic::mma: {
      if (s.copy == Copy::direct) return 0;
      const Tile* warp = find_tile(s, Level::warp);
      const std::int64_t m = warp != nullptr && warp->m > 0 ? warp->m : f.block_m;
      const std::int64_t n = warp != nullptr && warp->n > 0 ? warp->n : f.block_n;
      return operand_bytes_per_k(p, m, n) *
             static_cast<double>(divide_up(f.block_m, m) * divide_up(f.block_n, n)) /
             kWavefrontBytes;
    }
    case Arithmetic::wgmma: {
      const Tile& instruction = *find_tile(s, Level::instruction);
      return operand_bytes_per_k(p, instruction.m, instruction.n) *
             static_cast<double>(divide_up(f.block_m, instruction.m) *
                                 divide_up(f.block_n, instruction.n)) /
             kWavefrontBytes;
    }
    case Arithmetic::cpu:
      break;
  }
  return 0;
}

// Neighbouring threads on neighbouring rows touch 32 lines of A; on columns, one. The other operand
// is a broadcast or a row: one line.
double direct_lines_per_warp(const Schedule& s) {
  return s.kernel == "naive_rows" ? kWarpLanes + 1 : 2;
}

double direct_lines_per_k(const Problem& p, const Schedule& s, const Footprint& f) {
  const auto warps = static_cast<double>(divide_up(f.block.threads, kWarpLanes));
  if (arithmetic_of(s) != Arithmetic::mma || s.copy != Copy::direct) return 0;
  // A fragment of m x k touches a line for each row of m, one of k x n for each row of k.
  const Tile& instruction = *find_tile(s, Level::instruction);
  const Tile* warp = find_tile(s, Level::warp);
  const double m = static_cast<double>(warp != nullptr && warp->m > 0 ? warp->m : instruction.m);
  const double n = static_cast<double>(warp != nullptr && warp->n > 0 ? warp->n : instruction.n);
  const double lines_b = std::max(1.0, n * size_bytes(p.type_b) / kWavefrontBytes);
  return warps * (m / static_cast<double>(instruction.k) + lines_b);
}

Count sectors_a(const Problem& p, const Footprint& f) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return 0;
  return operand_sectors(p.m, p.k, p.a, f.block_m, f.block_k, size_bytes(p.type_a)) *
         ceil_div(p.n, f.block_n) * Count(p.batch);
}

Count sectors_b(const Problem& p, const Footprint& f) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return 0;
  return operand_sectors(p.k, p.n, p.b, f.block_k, f.block_n, size_bytes(p.type_b)) *
         ceil_div(p.m, f.block_m) * Count(p.batch);
}

}  // namespace tilewise
