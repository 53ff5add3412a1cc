// The two barriers of a shared-memory phase, run under the order of the warps that hurts most.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "simulate/inputs.h"
#include "tilewise/simulate.h"

namespace tilewise {
namespace {

constexpr std::int64_t kNothing = -1;

// A tile in shared memory. Each slot remembers which row (of B) or column (of A) along k it holds.
struct SharedTile {
  std::vector<double> values;
  std::vector<std::int64_t> held_k;

  void reset(std::size_t slots) {
    values.assign(slots, 0.0);
    held_k.assign(slots, kNothing);
  }
};

// The block's tile, and the rows of it that a warp (a row of threads) owns.
struct BlockOfThreads {
  Tile tile;
  std::int64_t rows = 1;

  [[nodiscard]] std::int64_t num_warps() const { return (tile.m - 1) / rows + 1; }
};

// One block. Warp w owns the outputs of its rows and loads these rows of A; of B it loads rows w, w
// + num_warps, ...
class Block {
 public:
  Block(const Problem& p, const BlockOfThreads& threads, const InputMatrix& a, const InputMatrix& b,
        BarrierReport& report)
      : problem_(p), threads_(threads), tile_(threads.tile), a_(a), b_(b), report_(report) {}

  void run(std::int64_t m0, std::int64_t n0, MissingBarrier missing) {
    m0_ = m0;
    n0_ = n0;
    const auto edge = [](std::int64_t x) { return static_cast<std::size_t>(x); };
    tile_a_.reset(edge(tile_.m * tile_.k));
    tile_b_.reset(edge(tile_.k * tile_.n));
    sums_.assign(edge(tile_.m * tile_.n), 0.0);
    const std::int64_t phases = (problem_.k + tile_.k - 1) / tile_.k;
    for (std::int64_t phase = 0; phase < phases; ++phase) run_phase(phase, phases, missing);
  }

  [[nodiscard]] double sum(std::int64_t i, std::int64_t j) const {
    return sums_[static_cast<std::size_t>(i * tile_.n + j)];
  }

 private:
  // With both barriers: all load, all multiply. Without the one after the load, each warp loads and
  // multiplies in turn, so that it misses what the later ones load. Without the one after the use,
  // each multiplies and loads the next phase in turn, so that it reads what the earlier ones
  // loaded.
  void run_phase(std::int64_t phase, std::int64_t phases, MissingBarrier missing) {
    std::vector<std::int64_t> turns = order_of(phase);
    if (missing == MissingBarrier::after_load) {
      std::reverse(turns.begin(), turns.end());
      for (const std::int64_t warp : turns) {
        load(warp, phase);
        multiply(warp, phase);
      }
      return;
    }
    const bool loads_ahead = missing == MissingBarrier::after_use;
    if (phase == 0 || !loads_ahead) {
      for (const std::int64_t warp : turns) load(warp, phase);
    }
    for (const std::int64_t warp : turns) {
      multiply(warp, phase);
      if (loads_ahead && phase + 1 < phases) load(warp, phase + 1);
    }
  }

  // One warp of a phase is right under any order: the last to load without the first barrier, the
  // first to multiply without the second. All others are wrong where it loads a row of B inside K.
  // It alternates, so that it is wrong in another phase, and starts with the last warp that loads
  // such a row, which has the fewest outputs of a tile that is cut.
  [[nodiscard]] std::vector<std::int64_t> order_of(std::int64_t phase) const {
    std::vector<std::int64_t> warps(static_cast<std::size_t>(threads_.num_warps()));
    std::iota(warps.begin(), warps.end(), 0);
    if (phase % 2 != 0) return warps;
    const std::int64_t rows = std::min(tile_.k, problem_.k - phase * tile_.k);
    std::reverse(warps.begin(), warps.end());
    const auto spared = warps.end() - std::min(threads_.num_warps(), rows);
    std::rotate(warps.begin(), spared, spared + 1);
    return warps;
  }

  [[nodiscard]] std::int64_t first_row(std::int64_t warp) const { return warp * threads_.rows; }
  [[nodiscard]] std::int64_t row_end(std::int64_t warp) const {
    return std::min(first_row(warp) + threads_.rows, tile_.m);
  }

  void load(std::int64_t warp, std::int64_t phase) {
    const std::int64_t k0 = phase * tile_.k;
    for (std::int64_t i = first_row(warp); i < row_end(warp); ++i) {
      for (std::int64_t k = 0; k < tile_.k; ++k) {
        store(tile_a_, i * tile_.k + k, k0 + k, a(i, k0 + k));
      }
    }
    for (std::int64_t row = warp; row < tile_.k; row += threads_.num_warps()) {
      for (std::int64_t j = 0; j < tile_.n; ++j) {
        store(tile_b_, row * tile_.n + j, k0 + row, b(k0 + row, j));
      }
    }
  }

  static void store(SharedTile& tile, std::int64_t slot, std::int64_t k, double value) {
    tile.values[static_cast<std::size_t>(slot)] = value;
    tile.held_k[static_cast<std::size_t>(slot)] = k;
  }

  void multiply(std::int64_t warp, std::int64_t phase) {
    for (std::int64_t i = first_row(warp); i < row_end(warp); ++i) {
      for (std::int64_t j = 0; j < tile_.n; ++j) {
        double& sum = sums_[static_cast<std::size_t>(i * tile_.n + j)];
        for (std::int64_t k = 0; k < tile_.k; ++k) {
          const std::int64_t wanted = phase * tile_.k + k;
          sum += read(tile_a_, i * tile_.k + k, wanted, "A", i, j) *
                 read(tile_b_, k * tile_.n + j, wanted, "B", i, j);
        }
      }
    }
  }

  double read(const SharedTile& tile, std::int64_t slot, std::int64_t wanted, const char* operand,
              std::int64_t i, std::int64_t j) {
    const std::int64_t held = tile.held_k[static_cast<std::size_t>(slot)];
    const bool in_bounds = wanted < problem_.k && m0_ + i < problem_.m && n0_ + j < problem_.n;
    if (held != wanted && report_.first_fault.empty() && in_bounds) {
      report_.first_fault = describe(operand, held, wanted, i, j);
    }
    return tile.values[static_cast<std::size_t>(slot)];
  }

  [[nodiscard]] std::string describe(const char* operand, std::int64_t held, std::int64_t wanted,
                                     std::int64_t i, std::int64_t j) const {
    const std::string where = "D[" + std::to_string(m0_ + i) + "," + std::to_string(n0_ + j) +
                              "] needs " + operand + " at k = " + std::to_string(wanted);
    if (held == kNothing) return where + ", but shared memory was not filled yet";
    if (held < wanted) return where + ", but shared memory still held k = " + std::to_string(held);
    return where + ", but shared memory was overwritten with k = " + std::to_string(held);
  }

  // Zero-filled outside the matrix, as the kernel does.
  [[nodiscard]] double a(std::int64_t i, std::int64_t k) const {
    if (m0_ + i >= problem_.m || k >= problem_.k) return 0;
    return a_.at(static_cast<std::size_t>(m0_ + i), static_cast<std::size_t>(k));
  }
  [[nodiscard]] double b(std::int64_t k, std::int64_t j) const {
    if (n0_ + j >= problem_.n || k >= problem_.k) return 0;
    return b_.at(static_cast<std::size_t>(k), static_cast<std::size_t>(n0_ + j));
  }

  const Problem& problem_;
  const BlockOfThreads& threads_;
  const Tile& tile_;
  const InputMatrix &a_, &b_;
  BarrierReport& report_;
  SharedTile tile_a_, tile_b_;
  std::vector<double> sums_;
  std::int64_t m0_ = 0, n0_ = 0;
};

std::vector<double> run_all(const Problem& p, const BlockOfThreads& threads,
                            const SimulationInputs& in, MissingBarrier missing,
                            BarrierReport& report) {
  const Tile& tile = threads.tile;
  std::vector<double> d(static_cast<std::size_t>(p.m * p.n), 0.0);
  const InputMatrix a{in.a, p.a, 0}, b{in.b, p.b, 0};
  Block block(p, threads, a, b, report);
  for (std::int64_t m0 = 0; m0 < p.m; m0 += tile.m) {
    for (std::int64_t n0 = 0; n0 < p.n; n0 += tile.n) {
      block.run(m0, n0, missing);
      for (std::int64_t i = 0; i < std::min(tile.m, p.m - m0); ++i) {
        for (std::int64_t j = 0; j < std::min(tile.n, p.n - n0); ++j) {
          d[static_cast<std::size_t>((m0 + i) * p.n + n0 + j)] = block.sum(i, j);
        }
      }
    }
  }
  return d;
}

Result<BlockOfThreads> block_of_threads(const Problem& p, const Schedule& s) {
  constexpr std::int64_t kMaxEdge = 1024, kMaxTerms = std::int64_t{1} << 33;
  const Tile* tile = find_tile(s, Level::block);
  if (tile == nullptr || tile->m < 1 || tile->n < 1 || tile->k < 1 || tile->m > kMaxEdge ||
      tile->n > kMaxEdge || tile->k > kMaxEdge) {
    return bad_request(
        "simulate: a run without a barrier needs a block tile of 1 to 1024 along m, n and k; give "
        "one such as --tile 32");
  }
  if (s.stages > 1) {
    return bad_request(
        "simulate: schedule \"" + s.name + "\" has " + std::to_string(s.stages) +
        " stages: the next tile goes to another buffer and one barrier a phase is enough; a run "
        "without one of two barriers needs a schedule of 1 stage, such as \"shared_tile\"");
  }
  const Count padded = ceil_div(p.m, tile->m) * tile->m * ceil_div(p.n, tile->n) * tile->n *
                       ceil_div(p.k, tile->k) * tile->k;
  if (p.batch != 1 || !(padded <= Count(kMaxTerms))) {
    return bad_request(
        "simulate: a run without a barrier takes one product of at most 2^33 "
        "multiply-adds; this one has " +
        padded.to_string() + ", batch " + std::to_string(p.batch));
  }
  const Tile* thread = find_tile(s, Level::thread);
  const std::int64_t rows = thread == nullptr ? 1 : thread->m == 0 ? tile->m : thread->m;
  return BlockOfThreads{*tile, std::min(rows, tile->m)};
}

}  // namespace

Result<BarrierReport> simulate_barriers(const Problem& p, const Schedule& s,
                                        std::span<const double> a, std::span<const double> b,
                                        MissingBarrier missing) {
  if (auto ok = validate(p); !ok) return std::unexpected(ok.error());
  if (auto ok = validate(s); !ok) return std::unexpected(ok.error());
  const auto threads = block_of_threads(p, s);
  if (!threads) return std::unexpected(threads.error());
  const SimulationInputs inputs{a, b, {}, {}};
  Problem plain = p;
  plain.epilogue = Epilogue{};
  if (auto ok = check_inputs(plain, inputs); !ok) return std::unexpected(ok.error());

  BarrierReport report, unused;
  if (p.m == 0 || p.n == 0) return report;
  report.expected = run_all(p, *threads, inputs, MissingBarrier::none, unused);
  report.d = run_all(p, *threads, inputs, missing, report);
  for (std::size_t i = 0; i < report.d.size(); ++i) {
    const double error = std::abs(report.d[i] - report.expected[i]);
    if (error != 0 && report.wrong_elements++ == 0) {
      report.first_wrong = static_cast<std::int64_t>(i);
    }
    report.max_error = std::max(report.max_error, error);
  }
  return report;
}

}  // namespace tilewise
