// Counted execution of a nest of tiles: every level copies its part of A and B into a buffer of its
// own and counts each element that it reads from the buffer outside.
#include "tilewise/simulate.h"

#include <algorithm>
#include <string>

#include "simulate/evaluate_outputs.h"
#include "simulate/inputs.h"

namespace tilewise {
namespace {

// A buffer of one operand tile, row-major.
struct Buffer {
  std::vector<double> values;
  std::size_t columns = 0;

  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }
  void resize(std::size_t rows, std::size_t new_columns) {
    columns = new_columns;
    values.resize(rows * new_columns);
  }
};

// Positions along one dimension, relative to the enclosing tile. Pieces of a repeated tile make
// gaps.
using Positions = std::vector<std::size_t>;

// The tiles along a dimension of clipped width `width`, whose enclosing tile is nominally `nominal`
// wide. They are made one at a time: there may be as many as the dimension is long.
class Split {
 public:
  Split(std::int64_t width, std::int64_t nominal, std::int64_t extent, std::int64_t repeat)
      : width_(width), repeat_(repeat) {
    if (extent == 0) extent = nominal;
    num_nominal_ = (nominal - 1) / extent + 1;
    piece_ = extent / repeat;
    num_tiles_ = std::min(num_nominal_, (width - 1) / piece_ + 1);
  }

  [[nodiscard]] std::int64_t num_tiles() const { return num_tiles_; }

  void positions_of(std::int64_t tile, Positions& positions) const {
    positions.clear();
    for (std::int64_t r = 0; r < repeat_; ++r) {
      const std::int64_t start = r * num_nominal_ + tile;  // in pieces
      if (start > (width_ - 1) / piece_) break;
      const std::int64_t begin = start * piece_;
      const std::int64_t end = begin + std::min(piece_, width_ - begin);
      for (std::int64_t x = begin; x < end; ++x) positions.push_back(static_cast<std::size_t>(x));
    }
  }

 private:
  std::int64_t width_, repeat_;
  std::int64_t num_nominal_ = 0;  // tiles of the enclosing tile if it were not clipped
  std::int64_t piece_ = 0;
  std::int64_t num_tiles_ = 0;
};

// One matrix product of the batch.
template <class Sum>
class Execution {
 public:
  Execution(const Problem& problem, const Schedule& schedule, Simulation& result)
      : problem_(problem), schedule_(schedule), result_(result), buffers_(schedule.tiles.size()) {}

  // Runs all output tiles of one batch matrix; store(m, n, sum) receives every output once.
  template <class Store>
  void run(const InputMatrix& a, const InputMatrix& b, const Store& store) {
    const Tile outer = oriented(0);
    const Split row_tiles(problem_.m, problem_.m, outer.m, outer.repeat_m);
    const Split column_tiles(problem_.n, problem_.n, outer.n, outer.repeat_n);
    Positions rows, columns;
    for (std::int64_t row_tile = 0; row_tile < row_tiles.num_tiles(); ++row_tile) {
      row_tiles.positions_of(row_tile, rows);
      for (std::int64_t tile = 0; tile < column_tiles.num_tiles(); ++tile) {
        column_tiles.positions_of(tile, columns);
        sums_.assign(rows.size() * columns.size(), Sum(0));
        run_phases(a, b, rows, columns);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          for (std::size_t j = 0; j < columns.size(); ++j) {
            store(rows[i], columns[j], sums_[i * columns.size() + j]);
          }
        }
        ++result_.blocks;
      }
    }
  }

 private:
  struct Buffers {
    Buffer a, b;
  };

  // The tile of a level as it lies on the problem: transposed when operands are swapped.
  [[nodiscard]] Tile oriented(std::size_t level) const {
    Tile tile = schedule_.tiles[level];
    if (schedule_.swap_ab) {
      std::swap(tile.m, tile.n);
      std::swap(tile.repeat_m, tile.repeat_n);
    }
    return tile;
  }

  void run_phases(const InputMatrix& a, const InputMatrix& b, const Positions& rows,
                  const Positions& columns) {
    const std::int64_t step = schedule_.tiles[0].k == 0 ? problem_.k : schedule_.tiles[0].k;
    result_.phases = 0;
    for (std::int64_t k0 = 0; k0 < problem_.k; k0 += std::min(step, problem_.k - k0)) {
      const auto k = static_cast<std::size_t>(k0);
      load(0, a, b, rows, columns, k, static_cast<std::size_t>(std::min(step, problem_.k - k0)));
      Positions sum_rows(rows.size()), sum_columns(columns.size());
      for (std::size_t i = 0; i < rows.size(); ++i) sum_rows[i] = i;
      for (std::size_t j = 0; j < columns.size(); ++j) sum_columns[j] = j;
      sum_stride_ = columns.size();
      run_inside(0, sum_rows, sum_columns);
      ++result_.phases;
    }
  }

  // Fills the buffers of a level from a source (global memory or the buffers outside), counting.
  template <class SourceA, class SourceB>
  void load(std::size_t level, const SourceA& a, const SourceB& b, const Positions& rows,
            const Positions& columns, std::size_t k0, std::size_t width) {
    Buffers& own = buffers_[level];
    SimulatedLevel& counter = result_.levels[level];
    own.a.resize(rows.size(), width);
    own.b.resize(width, columns.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        own.a.values[i * width + k] = a.at(rows[i], k0 + k);
        ++counter.reads_a;
      }
    }
    for (std::size_t k = 0; k < width; ++k) {
      for (std::size_t j = 0; j < columns.size(); ++j) {
        own.b.values[k * columns.size() + j] = b.at(k0 + k, columns[j]);
        ++counter.reads_b;
      }
    }
  }

  // The buffers of `level` are filled; rows and columns say where its outputs lie among the sums.
  void run_inside(std::size_t level, const Positions& rows, const Positions& columns) {
    if (level + 1 == schedule_.tiles.size()) return multiply(level, rows, columns);
    const Buffers& own = buffers_[level];
    const Tile parent = oriented(level), tile = oriented(level + 1);
    const auto height = static_cast<std::int64_t>(rows.size());
    const auto breadth = static_cast<std::int64_t>(columns.size());
    const std::size_t depth = own.a.columns;
    const std::size_t step = tile.k == 0 ? depth : static_cast<std::size_t>(tile.k);
    const Split row_tiles(height, nominal(level, parent.m, true), tile.m, tile.repeat_m);
    const Split column_tiles(breadth, nominal(level, parent.n, false), tile.n, tile.repeat_n);
    Positions inner_rows, inner_columns;
    for (std::int64_t i = 0; i < row_tiles.num_tiles(); ++i) {
      row_tiles.positions_of(i, inner_rows);
      const Positions sum_rows = gather(rows, inner_rows);
      for (std::int64_t j = 0; j < column_tiles.num_tiles(); ++j) {
        column_tiles.positions_of(j, inner_columns);
        const Positions sum_columns = gather(columns, inner_columns);
        for (std::size_t k0 = 0; k0 < depth; k0 += step) {
          load(level + 1, own.a, own.b, inner_rows, inner_columns, k0, std::min(step, depth - k0));
          run_inside(level + 1, sum_rows, sum_columns);
        }
      }
    }
  }

  // Width of a level's tile without clipping: the nearest level outside that tiles the dimension.
  [[nodiscard]] std::int64_t nominal(std::size_t level, std::int64_t extent, bool along_m) const {
    while (extent == 0 && level > 0) {
      const Tile outside = oriented(--level);
      extent = along_m ? outside.m : outside.n;
    }
    return extent != 0 ? extent : along_m ? problem_.m : problem_.n;
  }

  static Positions gather(const Positions& outside, const Positions& inside) {
    Positions result(inside.size());
    for (std::size_t i = 0; i < inside.size(); ++i) result[i] = outside[inside[i]];
    return result;
  }

  // The multiply-adds of an innermost tile, as outer products: sums run in order of k.
  void multiply(std::size_t level, const Positions& rows, const Positions& columns) {
    const Buffers& own = buffers_[level];
    for (std::size_t k = 0; k < own.a.columns; ++k) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        Sum* sums = sums_.data() + rows[i] * sum_stride_;
        const Sum a = static_cast<Sum>(own.a.at(i, k));
        for (std::size_t j = 0; j < columns.size(); ++j) {
          sums[columns[j]] += a * static_cast<Sum>(own.b.at(k, j));
        }
      }
    }
    result_.multiply_adds += own.a.columns * rows.size() * columns.size();
  }

  const Problem& problem_;
  const Schedule& schedule_;
  Simulation& result_;
  std::vector<Buffers> buffers_;
  std::vector<Sum> sums_;
  std::size_t sum_stride_ = 0;
};

template <class Sum>
void execute(const Problem& p, const Schedule& s, const SimulationInputs& in, Simulation& result) {
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    Execution<Sum> execution(p, s, result);
    const InputMatrix a{in.a, p.a, batch}, b{in.b, p.b, batch};
    execution.run(a, b, [&](std::size_t m, std::size_t n, Sum sum) {
      const auto index = (static_cast<std::size_t>(batch) * static_cast<std::size_t>(p.m) + m) *
                             static_cast<std::size_t>(p.n) +
                         n;
      result.d[index] = static_cast<double>(sum);
      ++result.writes;
    });
  }
}

// A schedule with no tiles is the naive kernel: one output at a time, one k at a time.
Schedule with_a_tile(Schedule schedule) {
  if (schedule.tiles.empty()) {
    schedule.tiles.push_back({Level::thread, 1, 1, 1, 1, 1});
  }
  return schedule;
}

void report_traffic(const Schedule& s, bool naive, Simulation& result) {
  for (const SimulatedLevel& level : result.levels) {
    const std::string name = naive ? "global" : std::string(to_string(level.level));
    result.traffic.rows.push_back(
        {name, Operand::a, Direction::read, Quantity::elements, "elements", Count(level.reads_a)});
    result.traffic.rows.push_back(
        {name, Operand::b, Direction::read, Quantity::elements, "elements", Count(level.reads_b)});
  }
  if (result.writes == 0) return;
  const std::string outer = naive ? "global" : std::string(to_string(s.tiles.front().level));
  result.traffic.rows.push_back(
      {outer, Operand::d, Direction::write, Quantity::elements, "elements", Count(result.writes)});
}

Result<void> check_cost(const Problem& p, const Schedule& s) {
  constexpr std::int64_t kMaxReads = std::int64_t{1} << 40;
  constexpr std::int64_t kMaxOutputs = std::int64_t{1} << 31;
  auto report = count_levels(p, s);
  if (!report) return std::unexpected(report.error());
  Count reads = Count(2) * p.m * p.n * p.k * p.batch;
  for (const LevelCount& level : report->levels) reads += level.reads;
  if (!(reads <= Count(kMaxReads))) {
    return bad_request("simulate: " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " +
                       std::to_string(p.k) + " makes " + reads.to_string() +
                       " element reads; at most 2^40 are simulated (count gives the same numbers "
                       "for any size)");
  }
  if (!(Count(p.m) * p.n * p.batch <= Count(kMaxOutputs))) {
    return out_of_memory("simulate: the output has " + (Count(p.m) * p.n * p.batch).to_string() +
                         " elements; at most 2^31 are held");
  }
  return {};
}

}  // namespace

Result<Simulation> simulate(const Problem& p, const Schedule& schedule, std::span<const double> a,
                            std::span<const double> b, std::span<const double> c,
                            std::span<const std::span<const double>> operands) {
  if (auto ok = validate(p); !ok) return std::unexpected(ok.error());
  if (auto ok = check_cost(p, schedule); !ok) return std::unexpected(ok.error());
  const SimulationInputs inputs{a, b, c, operands};
  if (auto ok = check_inputs(p, inputs); !ok) return std::unexpected(ok.error());

  const Schedule s = with_a_tile(schedule);
  Simulation result;
  for (const Tile& tile : s.tiles) result.levels.push_back({tile.level, 0, 0});
  if (p.m > 0 && p.n > 0 && p.batch > 0) {
    result.d.assign(static_cast<std::size_t>(p.batch * p.m * p.n), 0.0);
    const bool wide = p.compute == Compute::f64;
    wide ? execute<double>(p, s, inputs, result) : execute<float>(p, s, inputs, result);
    evaluate_outputs(p, inputs, result.d);
  }
  result.global_reads = result.levels.front().reads_a + result.levels.front().reads_b;
  result.shared_reads = s.tiles.size() > 1
                            ? result.levels.back().reads_a + result.levels.back().reads_b
                            : 2 * result.multiply_adds;
  report_traffic(s, schedule.tiles.empty(), result);
  return result;
}

}  // namespace tilewise
