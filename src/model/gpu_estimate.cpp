#include "model/gpu_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/block_units.h"
#include "model/rates.h"
#include "tilewise/block_order.h"

namespace tilewise {
namespace {

constexpr double kLineBytes = 128;
// mma.sync on sm_90: measured share of the peak that wgmma reaches (arXiv 2402.13499).
constexpr double kHopperMmaShare = 0.65;
constexpr std::int64_t kPartialSumBytes = 4;
constexpr std::int64_t kWarpThreads = 32;

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

std::string digits(double value) {
  const std::int64_t rounded = std::llround(value * 10);
  std::string text = std::to_string(rounded / 10);
  if (rounded % 10 != 0 && rounded < 10000) text += "." + std::to_string(rounded % 10);
  return text;
}

class GpuEstimate {
 public:
  GpuEstimate(const Problem& p, const Schedule& s, const Machine& machine, Estimate& e)
      : p_(p), s_(s), machine_(machine), e_(e) {}

  Result<void> run(bool exact_order) {
    e_.footprint = *footprint(p_, s_);
    auto occupied = occupancy(machine_.limits, e_.footprint.block);
    if (!occupied) return std::unexpected(occupied.error());
    e_.occupancy = *occupied;
    if (auto done = fill_waves(); !done) return done;
    if (auto done = fill_bytes(exact_order); !done) return done;
    fill_issued();
    fill_units();
    fill_terms();
    for (const TrafficRow& row : e_.traffic.rows) {
      if (row.value.overflowed()) return bad_request("explain: a count exceeds 2^127 - 1");
    }
    return {};
  }

 private:
  [[nodiscard]] const Footprint& f() const { return e_.footprint; }

  void row(std::string level, Operand operand, Direction direction, Quantity quantity,
           std::string unit, Count value) {
    e_.traffic.rows.push_back(
        {std::move(level), operand, direction, quantity, std::move(unit), value});
  }

  // Output tiles of the whole launch: whole clusters, whose blocks outside D run like the others.
  [[nodiscard]] Count blocks() const {
    return ceil_div(p_.m, span_m()) * Count(s_.cluster.m) * ceil_div(p_.n, span_n()) *
           Count(s_.cluster.n) * Count(p_.batch);
  }
  [[nodiscard]] std::int64_t span_m() const { return f().block_m * s_.cluster.m; }
  [[nodiscard]] std::int64_t span_n() const { return f().block_n * s_.cluster.n; }
  // Steps of block_k along K.
  [[nodiscard]] std::int64_t phases() const { return divide_up(p_.k, f().block_k); }
  [[nodiscard]] Count padded_k() const { return Count(phases()) * Count(f().block_k); }
  // Ways of a split K that have a phase.
  [[nodiscard]] std::int64_t ways() const {
    return std::clamp<std::int64_t>(phases(), 1, s_.split_k.ways);
  }

  Result<void> fill_waves() {
    const std::int64_t slots = machine_.num_units * e_.occupancy.blocks_per_sm;
    auto result = waves(blocks() * Count(ways()), slots);
    if (!result) return std::unexpected(result.error());
    e_.waves = *result;
    if (ways() < s_.split_k.ways) {
      e_.notes.push_back("K has " + std::to_string(phases()) +
                         " phases: " + std::to_string(s_.split_k.ways - ways()) + " of the " +
                         std::to_string(s_.split_k.ways) + " ways of its split have no work.");
    }
    if (auto done = fill_busy(); !done) return done;
    e_.block_intensity = 2.0 * static_cast<double>(f().block_m) * static_cast<double>(f().block_n) /
                         static_cast<double>(f().block_m * size_bytes(p_.type_a) +
                                             f().block_n * size_bytes(p_.type_b));
    return {};
  }

  // stream-K: the phases of all tiles in equal ranges, so that a phase is what an SM has more or
  // less of; else a block, the longest way of a split K.
  Result<void> fill_busy() {
    const Count all_phases = blocks() * Count(phases());
    auto shares = waves(s_.stream_k ? all_phases : e_.waves.tiles, machine_.num_units);
    if (!shares) return std::unexpected(shares.error());
    e_.busy = shares->efficiency;
    if (s_.stream_k) {
      if (e_.busy > 0) e_.notes.push_back("stream-K gives every SM an equal share of the phases.");
      return {};
    }
    if (ways() > 1) {
      const auto longest = static_cast<double>(divide_up(phases(), ways()));
      e_.busy *= static_cast<double>(phases()) / static_cast<double>(ways()) / longest;
    }
    return {};
  }

  Result<void> fill_bytes(bool exact_order) {
    const double partition = capacity(machine_, "l2_partition");
    e_.dram_capacity_bytes =
        static_cast<std::int64_t>(partition > 0 ? partition : capacity(machine_, "l2"));
    BlockGrid& grid = e_.grid;
    grid.m = p_.m, grid.n = p_.n, grid.k = p_.k;
    grid.block_m = f().block_m, grid.block_n = f().block_n;
    grid.slots = machine_.num_units * e_.occupancy.blocks_per_sm;
    grid.bytes_a = size_bytes(p_.type_a), grid.bytes_b = size_bytes(p_.type_b);
    grid.order = s_.order;
    grid.cluster = s_.cluster;
    grid.multicast = s_.copy == Copy::bulk;
    grid.batch = p_.batch;
    grid.shared_a = p_.batch > 1 && p_.a.batch == 0;
    grid.shared_b = p_.batch > 1 && p_.b.batch == 0;
    grid.split_ways = ways();
    auto traffic = block_traffic(grid, static_cast<double>(e_.dram_capacity_bytes), exact_order);
    if (!traffic) return std::unexpected(traffic.error());
    e_.dram_exact = traffic->exact;
    delivered_ = traffic->delivered;
    lookups_ = traffic->lookups;
    dram_ = traffic->dram;
    if (exact_order && !traffic->exact) {
      e_.notes.push_back(
          "The launch has more than 2^18 tiles: its DRAM reads are those of one product or wave, "
          "times how many there are.");
    }
    row("sm", Operand::a, Direction::read, Quantity::bytes, "bytes delivered, A and B", delivered_);
    row("l2", Operand::a, Direction::read, Quantity::bytes, "bytes looked up, A and B", lookups_);
    row("dram", Operand::a, Direction::read, Quantity::bytes, "bytes, A and B",
        Count(to_integer(dram_)));
    fill_output();
    add_memory("l2", lookups_.to_double());
    add_memory("dram", dram_ + static_cast<double>(side_bytes_.raw()));
    return {};
  }

  // A double that counts bytes, as an integer; no exact count is this large.
  static std::int64_t to_integer(double bytes) {
    return bytes < 9e18 ? std::int64_t{std::llround(bytes)} : INT64_MAX;
  }

  // D, and what the epilogue reads: each element once.
  void fill_output() {
    const Count mn = Count(p_.m) * Count(p_.n) * Count(p_.batch);
    const Count d_bytes = mn * Count(size_bytes(p_.type_d));
    row("dram", Operand::d, Direction::write, Quantity::bytes, "bytes", d_bytes);
    side_bytes_ = d_bytes;
    if (p_.epilogue.reads_c()) {
      const Count c_bytes = mn * Count(size_bytes(p_.type_c));
      row("dram", Operand::c, Direction::read, Quantity::bytes, "bytes", c_bytes);
      side_bytes_ += c_bytes;
    }
    Count operand_bytes;
    for (int i = 0; i < p_.epilogue.num_operands; ++i) {
      const EpilogueOperand& o = p_.epilogue.operands[static_cast<std::size_t>(i)];
      operand_bytes += Count(o.index_b ? p_.batch : 1) * Count(o.index_m ? p_.m : 1) *
                       Count(o.index_n ? p_.n : 1) * Count(size_bytes(o.type));
    }
    if (p_.epilogue.num_operands > 0) {
      row("dram", Operand::epilogue, Direction::read, Quantity::bytes, "bytes", operand_bytes);
      side_bytes_ += operand_bytes;
    }
    const Count sums =
        e_.traffic.value(outer_level(), Operand::workspace, Direction::write, Quantity::elements) +
        e_.traffic.value(outer_level(), Operand::workspace, Direction::read, Quantity::elements);
    if (sums != Count(0)) side_bytes_ += sums * Count(kPartialSumBytes);
    fill_seams();
  }

  // stream-K: a tile that several ranges share costs the sums of all of them but one, written and
  // read once. Ranges are the slots' (whole clusters), at most one a phase.
  void fill_seams() {
    if (!s_.stream_k || p_.k == 0) return;
    const Count cluster = Count(s_.cluster.m) * Count(s_.cluster.n);
    const std::int64_t slots = machine_.num_units * e_.occupancy.blocks_per_sm;
    const Count total =
        ceil_div(p_.m, span_m()) * ceil_div(p_.n, span_n()) * Count(p_.batch) * Count(phases());
    const std::int64_t most = std::max<std::int64_t>(slots / (s_.cluster.m * s_.cluster.n), 1);
    const std::int64_t ranges = total < Count(most) ? static_cast<std::int64_t>(total.raw()) : most;
    Count seams;
    for (std::int64_t i = 1; i < ranges; ++i) {
      const Count first = total * Count(i) / Count(ranges);
      if (first / Count(phases()) * Count(phases()) != first) seams += Count(1);
    }
    const Count sums = seams * cluster * Count(f().block_m) * Count(f().block_n);
    if (sums == Count(0)) return;
    row(outer_level(), Operand::workspace, Direction::write, Quantity::issued, "sums", sums);
    row(outer_level(), Operand::workspace, Direction::read, Quantity::issued, "sums", sums);
    side_bytes_ += Count(2) * sums * Count(kPartialSumBytes);
  }

  [[nodiscard]] std::string outer_level() const {
    return s_.tiles.empty() ? "global" : std::string(to_string(s_.tiles.front().level));
  }

  void add_memory(const char* name, double bytes) {
    LevelEstimate level;
    level.level = level.memory = name;
    level.bytes = bytes;
    if (bytes > 0) level.intensity = num_flops(p_) / bytes;
    level.ridge = ridge(e_.peak_tflops, stated_bandwidth(machine_, name));
    e_.memories.push_back(std::move(level));
  }

  // One thread an output, straight from global memory.
  [[nodiscard]] bool is_direct() const {
    return e_.arithmetic == Arithmetic::lanes && find_tile(s_, Level::block) == nullptr;
  }
  // Its warps lie along n, in rung 01 along m, and those without an output leave at once.
  [[nodiscard]] Count direct_warps() const {
    const bool along_m = s_.kernel == "naive_rows";
    return (along_m ? ceil_div(p_.m, kWarpThreads) * Count(p_.n)
                    : Count(p_.m) * ceil_div(p_.n, kWarpThreads)) *
           Count(p_.batch);
  }

  // Products that the arithmetic forms, padding included.
  void fill_issued() {
    products_ = blocks() * Count(f().block_m) * Count(f().block_n) * padded_k();
    if (e_.arithmetic == Arithmetic::lanes) {
      // Threads without an output leave, but their warp's others take the time of all.
      const Count outputs = Count(p_.m) * Count(p_.n) * Count(p_.batch);
      if (is_direct()) products_ = Count(kWarpThreads) * direct_warps() * Count(p_.k);
      row("thread", Operand::d, Direction::write, Quantity::issued,
          e_.peak.peak == "f64" ? "dfma" : "ffma", is_direct() ? outputs * Count(p_.k) : products_);
      fill_padding();
      return;
    }
    const Tile& i = *find_tile(s_, Level::instruction);
    // A warp that multiplies straight from global memory leaves where its tile has no output; the
    // others of a block wait for each other.
    const bool alone = e_.arithmetic == Arithmetic::mma && s_.copy == Copy::direct;
    const Tile* warp = find_tile(s_, Level::warp);
    const std::int64_t tile_m = alone ? (warp != nullptr ? warp->m : i.m) : f().block_m;
    const std::int64_t tile_n = alone ? (warp != nullptr ? warp->n : i.n) : f().block_n;
    const Count tiles =
        alone ? ceil_div(p_.m, tile_m) * ceil_div(p_.n, tile_n) * Count(p_.batch) : blocks();
    const Count instructions = tiles * ceil_div(tile_m, i.m) * ceil_div(tile_n, i.n) *
                               ceil_div(f().block_k, i.k) * Count(phases());
    products_ = instructions * Count(i.m) * Count(i.n) * Count(i.k) * Count(e_.peak.products);
    row("instruction", Operand::d, Direction::write, Quantity::issued,
        e_.arithmetic == Arithmetic::mma ? "mma" : "wgmma", instructions * Count(e_.peak.products));
    fill_padding();
  }

  // Useful share of the products formed; 0 where there are none.
  void fill_padding() {
    const double useful = num_flops(p_) / 2 * e_.peak.products;
    if (products_ != Count(0)) {
      e_.padding_efficiency = std::min(useful / products_.to_double(), 1.0);
    }
  }

  void fill_units() {
    const double steps = blocks().to_double() * padded_k().to_double();
    wavefronts_ = steps * shared_wavefronts_per_k(p_, s_, f());
    lines_ =
        is_direct() && e_.arithmetic == Arithmetic::lanes
            ? direct_warps().to_double() * static_cast<double>(p_.k) * direct_lines_per_warp(s_)
            : steps * direct_lines_per_k(p_, s_, f());
    if (s_.copy == Copy::bulk) {
      const Count boxes = blocks() * padded_k();
      row("block", Operand::a, Direction::read, Quantity::units, "bulk-copy bytes",
          boxes * Count(f().block_m) * Count(size_bytes(p_.type_a)));
      row("block", Operand::b, Direction::read, Quantity::units, "bulk-copy bytes",
          boxes * Count(f().block_n) * Count(size_bytes(p_.type_b)));
    } else if (lines_ == 0) {
      row("block", Operand::a, Direction::read, Quantity::units, "sectors", sectors_a(p_, f()));
      row("block", Operand::b, Direction::read, Quantity::units, "sectors", sectors_b(p_, f()));
    }
    if (wavefronts_ > 0) {
      row("shared", Operand::a, Direction::read, Quantity::units, "wavefronts, A and B",
          Count(to_integer(wavefronts_)));
    }
    if (lines_ > 0) {
      row("l1", Operand::a, Direction::read, Quantity::units, "lines, A and B",
          Count(to_integer(lines_)));
    }
  }

  void term(std::string name, double time_us, std::string how) {
    if (time_us > 0) e_.terms.push_back({std::move(name), time_us, std::move(how)});
  }

  void fill_terms() {
    const double efficiency = e_.busy > 0 ? e_.busy : 1;
    const Rate peak = peak_rate(machine_, e_.peak.peak);
    if (peak.value > 0) {
      const bool slow = e_.arithmetic == Arithmetic::mma && compute_capability(machine_) == 90;
      const double rate = peak.value * efficiency * (slow ? kHopperMmaShare : 1);
      std::string how = "products with padding over " + digits(peak.value) + " TFLOP/s (" +
                        peak.source + ") and the share of busy SMs";
      if (slow) how += "; mma.sync reaches 65 % of it on this architecture (arXiv 2402.13499)";
      term("arithmetic", 2 * products_.to_double() / rate / 1e6, std::move(how));
    } else {
      e_.notes.push_back("The " + e_.peak.peak + " peak of this machine is not known.");
    }
    fill_memory_terms(efficiency);
  }

  void fill_memory_terms(double efficiency) {
    const Rate shared = bandwidth(machine_, "shared");
    if (shared.value > 0) {
      // Copies into shared memory take their share of its cycles too.
      const double fills = wavefronts_ > 0 ? delivered_.to_double() / kLineBytes : 0;
      term("shared memory", (wavefronts_ + fills) * kLineBytes / shared.value / 1e3 / efficiency,
           "wavefronts of 128 bytes, reads and copies, over " + digits(shared.value) + " GB/s (" +
               shared.source + ") and the share of busy SMs");
      term("L1", lines_ * kLineBytes / shared.value / 1e3 / efficiency,
           "128-byte lines touched by each request, one a cycle of a busy SM");
    }
    const Rate l2 = bandwidth(machine_, "l2");
    if (l2.value > 0) {
      term("L2", lookups_.to_double() / l2.value / 1e3,
           "bytes looked up over " + digits(l2.value) + " GB/s (" + l2.source + ")");
    } else {
      e_.notes.push_back("The L2 bandwidth of this machine is not known: no term for it.");
    }
    const Rate dram = bandwidth(machine_, "dram");
    if (dram.value > 0) {
      term("DRAM", (dram_ + side_bytes_.to_double()) / dram.value / 1e3,
           "reads of A and B by the launch order, D and the epilogue's operands over " +
               digits(dram.value) + " GB/s (" + dram.source + ")");
    }
  }

  const Problem& p_;
  const Schedule& s_;
  const Machine& machine_;
  Estimate& e_;
  Count delivered_, lookups_, products_, side_bytes_;
  double dram_ = 0, wavefronts_ = 0, lines_ = 0;
};

}  // namespace

Result<void> add_gpu_estimate(const Problem& problem, const Schedule& schedule,
                              const Machine& machine, bool exact_order, Estimate& e) {
  return GpuEstimate(problem, schedule, machine, e).run(exact_order);
}

}  // namespace tilewise
