#include "report/try_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/choose_schedule.h"
#include "tilewise/block_order.h"

namespace tilewise {
namespace {

constexpr double kWorthwhile = 0.97;  // of the time: a change has to gain 3 %

struct Change {
  std::string what;
  Schedule schedule;
};

Tile* tile_of(Schedule& s, Level level) {
  for (Tile& tile : s.tiles) {
    if (tile.level == level) return &tile;
  }
  return nullptr;
}

class Changes {
 public:
  Changes(const Schedule& schedule, const Machine& machine, const Estimate& e)
      : from_(schedule), machine_(machine), e_(e) {}

  std::vector<Change> all() {
    order();
    block(&Tile::m, "m", 2, 1);
    block(&Tile::n, "n", 2, 1);
    block(&Tile::m, "m", 1, 2);
    block(&Tile::n, "n", 1, 2);
    thread();
    reads();
    split();
    cluster();
    return std::move(changes_);
  }

 private:
  void add(std::string what, Schedule schedule) {
    changes_.push_back({std::move(what), std::move(schedule)});
  }

  void order() {
    const std::int64_t slots = machine_.num_units * e_.occupancy.blocks_per_sm;
    const double best =
        best_group(std::max<std::int64_t>(slots, 1), e_.footprint.block_m, e_.footprint.block_n);
    const int group = std::max(1, static_cast<int>(std::lround(best)));
    if (from_.order.kind == Order::Kind::grouped && from_.order.group == group) return;
    Schedule s = from_;
    s.order = {Order::Kind::grouped, group, Order::Axis::m};
    add(fmt::format("block order grouped by {}", group), std::move(s));
  }

  // The block larger or smaller along one dimension, the instruction of wgmma with it.
  void block(std::int64_t Tile::* extent, const char* name, int times, int over) {
    Schedule s = from_;
    Tile* block = tile_of(s, Level::block);
    if (block == nullptr || block->*extent == 0 || (block->*extent * times) % over != 0) return;
    block->*extent = block->*extent * times / over;
    Tile* instruction = tile_of(s, Level::instruction);
    if (e_.arithmetic == Arithmetic::wgmma && instruction != nullptr) {
      if (extent == &Tile::n) instruction->n = std::min<std::int64_t>(block->n, 256);
      if (block->m < instruction->m) return;
    }
    for (const Tile& tile : s.tiles) {
      if (tile.*extent > block->*extent) return;
    }
    add(fmt::format("block.{} = {}", name, block->*extent), std::move(s));
  }

  void thread() {
    Schedule s = from_;
    Tile* thread = tile_of(s, Level::thread);
    const Tile* block = tile_of(s, Level::block);
    if (thread == nullptr || block == nullptr) return;
    // Grow towards a square.
    std::int64_t Tile::* extent = thread->m <= thread->n ? &Tile::m : &Tile::n;
    thread->*extent *= 2;
    if (thread->*extent > 16 || thread->*extent > block->*extent) return;
    add(fmt::format("a thread tile of {} x {}", thread->m, thread->n), std::move(s));
  }

  void reads() {
    const Tile* thread = find_tile(from_, Level::thread);
    if (thread == nullptr || find_tile(from_, Level::block) == nullptr) return;
    if (from_.vector_bytes.shared_a < 16 || from_.vector_bytes.shared_b < 16) {
      Schedule s = from_;
      s.vector_bytes.shared_a = s.vector_bytes.shared_b = 16;
      add("reads of shared memory of 16 bytes", std::move(s));
    }
    if (thread->m % 8 == 0 && thread->n % 8 == 0 && thread->repeat_n == 1) {
      Schedule s = from_;
      tile_of(s, Level::thread)->repeat_m = tile_of(s, Level::thread)->repeat_n = 2;
      s.vector_bytes.shared_a = s.vector_bytes.shared_b = 16;
      add("thread tiles in 2 x 2 strided pieces, read in 16 bytes", std::move(s));
    }
  }

  void split() {
    if (e_.waves.fraction == 0 || e_.busy > 0.95 || from_.stream_k) return;
    for (const int ways : {2, 4, 8, 16}) {
      if (from_.split_k.ways >= ways) continue;
      Schedule s = from_;
      s.split_k.ways = ways;
      add(fmt::format("K split {} ways", ways), std::move(s));
    }
  }

  void cluster() {
    if (from_.copy != Copy::bulk || from_.cluster.m * from_.cluster.n >= 4) return;
    Schedule s = from_;
    (s.cluster.m <= s.cluster.n ? s.cluster.m : s.cluster.n) *= 2;
    const std::string what = fmt::format("a cluster of {} x {}", s.cluster.m, s.cluster.n);
    add(what, std::move(s));
  }

  const Schedule& from_;
  const Machine& machine_;
  const Estimate& e_;
  std::vector<Change> changes_;
};

// The operands as a bulk copy takes them: rows padded to 16 bytes, and, for elements that are not
// of 16 bits, both along K. What was done, or empty where nothing had to be.
std::string for_bulk_copies(Problem& p) {
  std::string what;
  if (size_bytes(p.type_a) != 2 && (p.a.column != 1 || p.b.row != 1)) {
    p.a.row = p.k, p.a.column = 1;
    p.b.row = 1, p.b.column = p.k;
    what = "A row-major and B column-major (layout nt)";
  }
  const std::int64_t unit = 16 / size_bytes(p.type_a);
  for (const auto& [name, strides] : {std::pair{"A", &p.a}, std::pair{"B", &p.b}}) {
    std::int64_t& pitch = strides->column == 1 ? strides->row : strides->column;
    if (pitch % unit == 0) continue;
    pitch += unit - pitch % unit;
    what += fmt::format("{}{} of {} padded to {} elements", what.empty() ? "" : ", ",
                        strides->column == 1 ? "rows" : "columns", name, pitch);
  }
  return what;
}

// The fastest named schedule that copies in bulk, once the operands lie as it needs.
void try_layout(const Problem& problem, const Machine& machine, double enough,
                std::vector<Alternative>& gains) {
  Problem laid_out = problem;
  const std::string what = for_bulk_copies(laid_out);
  if (what.empty() || problem.batch > 1) return;
  Alternative best;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.copy != Copy::bulk || !kernel_multiplies(schedule, laid_out)) continue;
    const double most = best.time_us > 0 ? best.time_us : enough;
    const auto quick = estimate(laid_out, schedule, machine, false);
    if (!quick || quick->time_us > most) continue;
    const auto exact = estimate(laid_out, schedule, machine);
    if (!exact || exact->time_us > most) continue;
    best = {fmt::format("{} and schedule \"{}\"", what, schedule.name), exact->time_us,
            exact->limiter};
  }
  if (best.time_us > 0) gains.push_back(std::move(best));
}

}  // namespace

std::vector<Alternative> try_changes(const Problem& problem, const Schedule& schedule,
                                     const Machine& machine, const Estimate& e) {
  std::vector<Alternative> gains;
  if (machine.device != Device::gpu || e.time_us <= 0) return gains;
  const double enough = kWorthwhile * e.time_us;
  for (const Change& change : Changes(schedule, machine, e).all()) {
    const auto quick = estimate(problem, change.schedule, machine, false);
    if (!quick || quick->time_us > enough) continue;  // does not fit, or cannot gain enough
    const auto exact = estimate(problem, change.schedule, machine);
    if (exact && exact->time_us <= enough) {
      gains.push_back({change.what, exact->time_us, exact->limiter});
    }
  }
  try_layout(problem, machine, enough, gains);
  std::sort(gains.begin(), gains.end(), [](const auto& x, const auto& y) {
    return x.time_us != y.time_us ? x.time_us < y.time_us : x.what < y.what;
  });
  return gains;
}

}  // namespace tilewise
