#include "tilewise/units.h"

#include <algorithm>
#include <optional>
#include <string>

#include "model/float_rung.h"
#include "model/float_tile_units.h"
#include "model/operand_tile_units.h"
#include "model/rung_tiles.h"
#include "model/tile_steps.h"
#include "parts/fragment.cuh"

namespace tilewise {
namespace {

constexpr std::int64_t kAlignedBytes = 16;
constexpr int kNaiveLanes = 32;            // outputs of a warp, along m or along n
constexpr int kSquareTileLanesAlongK = 4;  // rung 05: of the copies
constexpr int kWmmaEdge = 16;
constexpr int kWmmaInstructions = 2;  // a 16 x 16 x 16 product is two m16n8k16
constexpr int kWarpgroupWarps = kWarpgroupThreads / kWarpLanes;

struct Sums {
  Count ffma, hmma, gmma;
  Count sectors_a, sectors_b;
  std::optional<Count> writes_a{Count(0)}, writes_b{Count(0)};  // wavefronts; none: not known
  Count reads_a, reads_b;
  Count writes_d, reads_d;
  Count bulk_a, bulk_b;  // bytes
};

bool has_aligned_rows(const Strides& s, Type type) {
  if (s.column != 1 && s.row != 1) return false;
  return (s.column == 1 ? s.row : s.column) * size_bytes(type) % kAlignedBytes == 0;
}

// What a kernel's copies depend on beyond the schedule (make_constants in src/gpu).
struct Layouts {
  bool a_k_major, b_k_major, aligned;

  explicit Layouts(const Problem& p)
      : a_k_major(p.a.column == 1),
        b_k_major(p.b.column != 1 && p.b.row == 1),
        aligned(has_aligned_rows(p.a, p.type_a) && has_aligned_rows(p.b, p.type_b) &&
                has_aligned_rows(p.d, p.type_d)) {}
};

Tile tile_of(const Schedule& s, Level level) {
  const Tile* tile = find_tile(s, level);
  return tile != nullptr ? *tile : Tile{};
}

std::int64_t tiles(std::int64_t extent, std::int64_t tile) {
  return extent / tile + (extent % tile != 0);
}

class UnitCounter {
 public:
  UnitCounter(const Problem& p, const Schedule& s)
      : p_(p),
        s_(s),
        layouts_(p),
        block_(tile_of(s, Level::block)),
        warp_(tile_of(s, Level::warp)),
        instruction_(tile_of(s, Level::instruction)) {
    if (block_.m > 0 && block_.n > 0 && block_.k > 0) {
      tiles_m_ = tiles(p.m, block_.m * s.cluster.m) * s.cluster.m;
      tiles_n_ = tiles(p.n, block_.n * s.cluster.n) * s.cluster.n;
      phases_ = tiles(p.k, block_.k);
    }
  }

  Result<Sums> run() {
    if (s_.kernel == "naive_rows" || s_.kernel == "naive") {
      naive();
    } else if (is_float_rung(s_)) {
      float_rung();
    } else if (s_.kernel == "wmma") {
      wmma();
    } else if (s_.kernel == "mma") {
      mma();
    } else if (s_.kernel == "wgmma" || s_.kernel == "wgmma_pipeline" || s_.kernel == "wgmma_fp8") {
      wgmma();
    } else {
      return bad_request("count: units are known for the rungs of the GPU ladder, and kernel \"" +
                         s_.kernel + "\" is none; tilewise schedules lists them");
    }
    return sums_;
  }

 private:
  [[nodiscard]] std::int64_t bytes(Type type, std::int64_t elements) const {
    return elements * size_bytes(type);
  }
  [[nodiscard]] Count blocks() const { return Count(tiles_m_) * Count(tiles_n_); }

  // Rungs 01 and 02: a warp lies along m or along n; the other operand is one element for all.
  void naive() {
    sums_.ffma = Count(p_.m) * p_.n * p_.k;
    const bool rows = s_.kernel == "naive_rows";
    const std::int64_t x = bytes(p_.type_a, rows ? p_.a.row : p_.b.column);
    const std::int64_t k = bytes(p_.type_a, rows ? p_.a.column : p_.b.row);
    const std::int64_t along = rows ? p_.m : p_.n, across = rows ? p_.n : p_.m;
    const Count loads =
        sum_tiles(tile_steps(along, kNaiveLanes, x), tile_steps(p_.k, 1, k),
                  [&](std::int64_t offset, int left, int) -> std::int64_t {
                    const CopyLayout lanes{CopyMode::scalar_x, 1, kNaiveLanes, kNaiveLanes};
                    return tile_copy_sectors(lanes, {k, x}, offset, 1, left);
                  }) *
        Count(across);
    const Count broadcasts = Count(tiles(along, kNaiveLanes)) * p_.k * across;
    (rows ? sums_.sectors_a : sums_.sectors_b) = loads;
    (rows ? sums_.sectors_b : sums_.sectors_a) = broadcasts;
  }

  // Rungs 03 to 10: tiles in shared memory, register tiles.
  void float_rung() {
    const Count phases = blocks() * Count(phases_);
    sums_.ffma = phases * Count(block_.m) * Count(block_.n) * Count(block_.k);
    const FloatRung rung(s_);
    copy_float_tile(layouts_.a_k_major, rung, rung.tile_a, p_.m,
                    {bytes(p_.type_a, p_.a.column), bytes(p_.type_a, p_.a.row)},
                    {tiles_n_, p_.n / block_.n}, sums_.sectors_a, sums_.writes_a);
    copy_float_tile(layouts_.b_k_major, rung, rung.tile_b, p_.n,
                    {bytes(p_.type_b, p_.b.row), bytes(p_.type_b, p_.b.column)},
                    {tiles_m_, p_.m / block_.m}, sums_.sectors_b, sums_.writes_b);
    read_float_tiles(rung, phases);
  }

  // How often each tile of an operand is copied: by all blocks along the other dimension, and by
  // those of them that exist in full along it.
  struct Times {
    std::int64_t all, whole;
  };

  void copy_float_tile(bool k_major, const FloatRung& rung, const SharedTile& tile,
                       std::int64_t extent, const FloatOperand& operand, Times times,
                       Count& sectors, std::optional<Count>& writes) {
    const bool asynchronous = s_.copy == Copy::cp_async;
    const bool vector =
        layouts_.aligned && s_.vector_bytes.global == kAlignedBytes && !(asynchronous && k_major);
    CopyLayout layout{CopyMode::scalar_x, tile.k, tile.x, rung.threads};
    if (k_major) layout.mode = vector ? CopyMode::vector_k : CopyMode::scalar_k;
    if (!k_major && vector) layout.mode = CopyMode::vector_x;
    if (rung.by_columns) layout.k_lanes = tile.k;
    if (s_.kernel == "square_tile") layout.k_lanes = kSquareTileLanesAlongK;
    const std::int64_t within = asynchronous ? kLineBytes : kSectorBytes;
    const auto sum = [&](const auto& cost) {
      return sum_tiles(tile_steps(extent, tile.x, operand.x_stride_bytes, within),
                       tile_steps(p_.k, tile.k, operand.k_stride_bytes, within), cost, within);
    };
    sectors = Count(times.all) * sum([&](std::int64_t offset, int x_left, int k_left) {
                return tile_copy_sectors(layout, operand, offset, k_left, x_left,
                                         asynchronous ? &tile : nullptr);
              });
    if (!asynchronous) {
      writes = blocks() * Count(phases_) * Count(store_wavefronts(layout, tile));
      return;
    }
    const bool fills_zeros = extent % tile.x != 0 || p_.k % tile.k != 0;
    if (!knows_async_wavefronts(layout, tile, fills_zeros)) {
      writes.reset();
      return;
    }
    writes = sum([&](std::int64_t offset, int x_left, int k_left) {
      const auto of_tile = [&](bool whole) {
        return Count(async_wavefronts(layout, tile, operand, offset, k_left, x_left, whole));
      };
      const std::int64_t whole = x_left == tile.x && k_left == tile.k ? times.whole : 0;
      return of_tile(true) * Count(whole) + of_tile(false) * Count(times.all - whole);
    });
  }

  void read_float_tiles(const FloatRung& rung, Count phases) {
    if (rung.may_merge) return;
    std::int64_t reads_a = 0, reads_b = 0;
    for (int warp = 0; warp < rung.threads / kWarpThreads; ++warp) {
      int first_a[kWarpThreads], first_b[kWarpThreads];
      for (int lane = 0; lane < kWarpThreads; ++lane) {
        const MN first = rung.first(warp * kWarpThreads + lane);
        first_a[lane] = first.m;
        first_b[lane] = first.n;
      }
      reads_a += fragment_wavefronts(rung.tile_a, rung.fragment_a, first_a);
      reads_b += fragment_wavefronts(rung.tile_b, rung.fragment_b, first_b);
    }
    sums_.reads_a = phases * Count(reads_a);
    sums_.reads_b = phases * Count(reads_b);
  }

  // Rung 11. A tile of a warp outside the matrix is not computed.
  void wmma() {
    const std::int64_t tiles_m = tiles(p_.m, kWmmaEdge), tiles_n = tiles(p_.n, kWmmaEdge);
    const Count fragments = Count(tiles_m) * Count(tiles_n) * Count(tiles(p_.k, kWmmaEdge));
    sums_.hmma = fragments * Count(kWmmaInstructions);
    wmma_operand(layouts_.a_k_major, p_.type_a, p_.m,
                 {bytes(p_.type_a, p_.a.row), bytes(p_.type_a, p_.a.column)}, Count(tiles_n),
                 sums_.sectors_a, sums_.writes_a, sums_.reads_a);
    wmma_operand(layouts_.b_k_major, p_.type_b, p_.n,
                 {bytes(p_.type_b, p_.b.column), bytes(p_.type_b, p_.b.row)}, Count(tiles_m),
                 sums_.sectors_b, sums_.writes_b, sums_.reads_b);
    const Count stores = Count(tiles_m) * Count(tiles_n);
    sums_.writes_d = stores * Count(wmma_store_wavefronts());
    sums_.reads_d = sum_tiles(
        tile_steps(p_.m, kWmmaEdge, 0), tile_steps(p_.n, kWmmaEdge, 0),
        [](std::int64_t, int m_left, int n_left) { return wmma_row_wavefronts(m_left, n_left); });
  }

  void wmma_operand(bool k_major, Type type, std::int64_t extent, const TensorOperand& operand,
                    Count times, Count& sectors, std::optional<Count>& writes, Count& reads) {
    const int size = size_bytes(type);
    const std::int64_t pitch = k_major ? operand.x_stride_bytes : operand.k_stride_bytes;
    const std::int64_t unit = k_major ? operand.k_stride_bytes : operand.x_stride_bytes;
    const bool direct = unit == size && pitch % kAlignedBytes == 0;
    const auto sum = [&](std::int64_t WmmaUnits::* field) {
      return times * sum_tiles(tile_steps(extent, kWmmaEdge, operand.x_stride_bytes),
                               tile_steps(p_.k, kWmmaEdge, operand.k_stride_bytes),
                               [&](std::int64_t offset, int x_left, int k_left) {
                                 const bool whole = x_left == kWmmaEdge && k_left == kWmmaEdge;
                                 return wmma_units(operand, k_major, direct && whole, size, offset,
                                                   x_left, k_left).*
                                        field;
                               });
    };
    sectors = sum(&WmmaUnits::sectors);
    writes = sum(&WmmaUnits::write_wavefronts);
    reads = sum(&WmmaUnits::read_wavefronts);
  }

  // Rung 12.
  void mma() {
    const Count phases = blocks() * Count(phases_);
    sums_.hmma = phases * Count(block_.m / instruction_.m) * Count(block_.n / instruction_.n) *
                 Count(block_.k / instruction_.k);
    mma_operand(Role::a, p_.type_a, p_.m,
                {bytes(p_.type_a, p_.a.row), bytes(p_.type_a, p_.a.column)}, Count(tiles_n_),
                sums_.sectors_a, sums_.writes_a, sums_.reads_a);
    mma_operand(Role::b, p_.type_b, p_.n,
                {bytes(p_.type_b, p_.b.column), bytes(p_.type_b, p_.b.row)}, Count(tiles_m_),
                sums_.sectors_b, sums_.writes_b, sums_.reads_b);
  }

  void mma_operand(Role role, Type type, std::int64_t extent, const TensorOperand& operand,
                   Count times, Count& sectors, std::optional<Count>& writes, Count& reads) {
    const bool a = role == Role::a;
    const std::int64_t warps_m = block_.m / warp_.m, warps_n = block_.n / warp_.n;
    const OperandLayout layout{
        role,
        a ? layouts_.a_k_major : layouts_.b_k_major,
        static_cast<int>(a ? block_.m : block_.n),
        static_cast<int>(block_.k),
        s_.shared_layout.kind == SharedLayout::Kind::pad ? s_.shared_layout.amount : 0,
        s_.shared_layout.kind == SharedLayout::Kind::swizzle ? s_.shared_layout.amount : 0,
        static_cast<int>(warps_m * warps_n) * kWarpLanes,
        size_bytes(type)};
    const std::int64_t within = layouts_.aligned ? kLineBytes : kSectorBytes;
    const auto sum = [&](std::int64_t along_x, std::int64_t along_k, const auto& cost) {
      return times * sum_tiles(tile_steps(along_x, layout.extent, operand.x_stride_bytes, within),
                               tile_steps(along_k, block_.k, operand.k_stride_bytes, within), cost,
                               within);
    };
    sectors = sum(extent, p_.k, [&](std::int64_t offset, int x_left, int k_left) {
      return operand_sectors(layout, operand, layouts_.aligned, offset, x_left, k_left);
    });
    // Copies run stages - 1 tiles ahead, with zeros past the end; the last step of every phase and
    // the start read step 0 of the next tile.
    const std::int64_t copied_x = (a ? tiles_m_ : tiles_n_) * layout.extent;
    const std::int64_t copied_k = (phases_ + s_.stages - 1) * block_.k;
    if (!layouts_.aligned) {
      writes = sum(copied_x, copied_k,
                   [&](std::int64_t, int, int) { return operand_store_wavefronts(layout); });
    } else if (knows_operand_async_wavefronts(layout)) {
      writes = sum(copied_x, copied_k, [&](std::int64_t offset, int, int) {
        return operand_async_wavefronts(layout, operand, offset);
      });
    } else {
      writes.reset();
    }
    const int warp_extent = static_cast<int>(a ? warp_.m : warp_.n);
    const std::int64_t across = a ? warps_n : warps_m;  // warps that read the same fragments
    for (int step = 0; step < block_.k * layout.size / kFragmentKBytes; ++step) {
      std::int64_t wavefronts = 0;
      for (int first = 0; first < layout.extent; first += warp_extent) {
        wavefronts += operand_read_wavefronts(layout, first, warp_extent, step) * across;
      }
      reads += blocks() * Count(phases_ + (step == 0 ? 1 : 0)) * Count(wavefronts);
    }
  }

  // Rungs 13 to 15: tiles that fill up clusters are computed too.
  void wgmma() {
    const Count phases = blocks() * Count(phases_);
    sums_.gmma = phases * Count(block_.m / instruction_.m) * Count(block_.n / instruction_.n) *
                 Count(block_.k / instruction_.k) * Count(kWarpgroupWarps);
    sums_.bulk_a = phases * Count(bytes(p_.type_a, block_.m * block_.k));
    sums_.bulk_b = phases * Count(bytes(p_.type_b, block_.n * block_.k));
  }

  const Problem& p_;
  const Schedule& s_;
  const Layouts layouts_;
  const Tile block_, warp_, instruction_;
  std::int64_t tiles_m_ = 0, tiles_n_ = 0, phases_ = 0;
  Sums sums_;
};

Result<void> check_request(const Problem& p, const Schedule& s) {
  if (auto ok = validate(p); !ok) return ok;
  if (auto ok = validate(s); !ok) return ok;
  if (s.device != Device::gpu) {
    return bad_request("count: units are counted for GPU schedules, and \"" + s.name +
                       "\" is for the cpu");
  }
  if (auto ok = check_rung_tiles(s); !ok) return ok;
  if (s.split_k.ways > 1 || s.stream_k) {
    return bad_request("count: schedule \"" + s.name +
                       "\" splits K over blocks, whose workspace is not counted in units; take "
                       "split_k 1 and no stream_k");
  }
  if (p.batch <= 1) return {};
  for (const auto& [name, type, strides] :
       {std::tuple{"A", p.type_a, p.a}, std::tuple{"B", p.type_b, p.b}}) {
    const std::int64_t within = s.copy == Copy::cp_async ? kLineBytes : kSectorBytes;
    if (strides.batch * size_bytes(type) % within == 0) continue;
    return bad_request(std::string("count: batch stride of ") + name + " is " +
                       std::to_string(strides.batch) + " elements, not a multiple of " +
                       std::to_string(within) +
                       " bytes, and sectors then differ from matrix to matrix; count one of them");
  }
  return {};
}

}  // namespace

Result<Traffic> count_units(const Problem& p, const Schedule& s) {
  if (auto ok = check_request(p, s); !ok) return std::unexpected(ok.error());
  Traffic traffic;
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return traffic;
  const Result<Sums> sums = UnitCounter(p, s).run();
  if (!sums) return std::unexpected(sums.error());
  const auto add = [&](const char* level, Operand operand, Direction direction, Quantity quantity,
                       const char* unit, Count value) {
    if (value == Count(0)) return;
    traffic.rows.push_back({level, operand, direction, quantity, unit, value * Count(p.batch)});
  };
  constexpr auto kRead = Direction::read, kWrite = Direction::write;
  const auto add_writes = [&](Operand operand, const std::optional<Count>& value) {
    if (value) return add("shared", operand, kWrite, Quantity::units, "wavefronts", *value);
    traffic.not_counted.push_back("wavefronts of the writes of " +
                                  std::string(operand == Operand::a ? "A" : "B") +
                                  ": 16-byte asynchronous copies fill padded rows with zeros, for "
                                  "which no rule is known (docs/gpu.md)");
  };
  add("thread", Operand::d, kWrite, Quantity::issued, "ffma", sums->ffma);
  add("warp", Operand::d, kWrite, Quantity::issued, "hmma", sums->hmma);
  add("warpgroup", Operand::d, kWrite, Quantity::issued, "gmma", sums->gmma);
  add("global", Operand::a, kRead, Quantity::units, "sectors", sums->sectors_a);
  add("global", Operand::b, kRead, Quantity::units, "sectors", sums->sectors_b);
  add_writes(Operand::a, sums->writes_a);
  add_writes(Operand::b, sums->writes_b);
  add("shared", Operand::a, kRead, Quantity::units, "wavefronts", sums->reads_a);
  add("shared", Operand::b, kRead, Quantity::units, "wavefronts", sums->reads_b);
  add("shared", Operand::d, kWrite, Quantity::units, "wavefronts", sums->writes_d);
  add("shared", Operand::d, kRead, Quantity::units, "wavefronts", sums->reads_d);
  add("block", Operand::a, kRead, Quantity::units, "bulk-copy bytes", sums->bulk_a);
  add("block", Operand::b, kRead, Quantity::units, "bulk-copy bytes", sums->bulk_b);
  for (const TrafficRow& row : traffic.rows) {
    if (row.value.overflowed()) {
      return bad_request("count: the problem gives counts beyond 2^127 - 1; make it smaller");
    }
  }
  return traffic;
}

}  // namespace tilewise
