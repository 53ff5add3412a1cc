#include "tilewise/pebble.h"

#include <algorithm>
#include <string>
#include <vector>

#include "simulate/fast_memory_limits.h"

namespace tilewise {
namespace {

enum class Matrix { a, b, c };

// Fast memory with explicit loads and drops. Refuses to hold more than S elements.
class Pebbles {
 public:
  Pebbles(const BoundQuestion& q)
      : q_(q),
        a_(static_cast<std::size_t>(q.m * q.k)),
        b_(static_cast<std::size_t>(q.k * q.n)),
        c_(static_cast<std::size_t>(q.m * q.n)),
        started_(static_cast<std::size_t>(q.m * q.n)) {}

  void load_a(std::int64_t i, std::int64_t l) { place(a_, i * q_.k + l, &run_.reads_a); }
  void load_b(std::int64_t l, std::int64_t j) { place(b_, l * q_.n + j, &run_.reads_b); }
  void drop_a(std::int64_t i, std::int64_t l) { remove(a_, i * q_.k + l); }
  void drop_b(std::int64_t l, std::int64_t j) { remove(b_, l * q_.n + j); }

  // Creates an accumulator, or loads its partial sum (or the C that is updated).
  void open_c(std::int64_t i, std::int64_t j) {
    const auto at = static_cast<std::size_t>(i * q_.n + j);
    const bool read = started_[at] || q_.output == Output::updated;
    place(c_, i * q_.n + j, read ? &run_.reads_c : nullptr);
    started_[at] = true;
  }
  void store_c(std::int64_t i, std::int64_t j) {
    ++run_.writes_c;
    remove(c_, i * q_.n + j);
  }

  void multiply_add(std::int64_t i, std::int64_t j, std::int64_t l) {
    const bool present = a_[static_cast<std::size_t>(i * q_.k + l)] &&
                         b_[static_cast<std::size_t>(l * q_.n + j)] &&
                         c_[static_cast<std::size_t>(i * q_.n + j)];
    legal_ = legal_ && present;
    ++run_.products;
  }

  // False when a rule was broken: an absent operand, a double load, more than S elements.
  [[nodiscard]] bool legal() const { return legal_ && held_ == 0; }
  [[nodiscard]] const FastMemoryRun& run() const { return run_; }

 private:
  void place(std::vector<bool>& set, std::int64_t index, std::uint64_t* reads) {
    const auto at = static_cast<std::size_t>(index);
    legal_ = legal_ && !set[at] && held_ < q_.fast_memory;
    set[at] = true;
    run_.peak = std::max(run_.peak, ++held_);
    if (reads != nullptr) ++*reads;
  }
  void remove(std::vector<bool>& set, std::int64_t index) {
    const auto at = static_cast<std::size_t>(index);
    legal_ = legal_ && set[at];
    set[at] = false;
    --held_;
  }

  BoundQuestion q_;
  std::vector<bool> a_, b_, c_, started_;
  std::int64_t held_ = 0;
  bool legal_ = true;
  FastMemoryRun run_;
};

struct Range {
  std::int64_t begin, end;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

template <class F>
void each(Range range, F f) {
  for (std::int64_t x = range.begin; x < range.end; ++x) f(x);
}

void c_tile(Pebbles& p, Range is, Range js, std::int64_t k) {
  each(is, [&](auto i) { each(js, [&](auto j) { p.open_c(i, j); }); });
  for (std::int64_t l = 0; l < k; ++l) {
    if (is.size() <= js.size()) {  // hold the column of A, stream B
      each(is, [&](auto i) { p.load_a(i, l); });
      each(js, [&](auto j) {
        p.load_b(l, j);
        each(is, [&](auto i) { p.multiply_add(i, j, l); });
        p.drop_b(l, j);
      });
      each(is, [&](auto i) { p.drop_a(i, l); });
    } else {
      each(js, [&](auto j) { p.load_b(l, j); });
      each(is, [&](auto i) {
        p.load_a(i, l);
        each(js, [&](auto j) { p.multiply_add(i, j, l); });
        p.drop_a(i, l);
      });
      each(js, [&](auto j) { p.drop_b(l, j); });
    }
  }
  each(is, [&](auto i) { each(js, [&](auto j) { p.store_c(i, j); }); });
}

void b_tile(Pebbles& p, Range ls, Range js, std::int64_t m) {
  each(ls, [&](auto l) { each(js, [&](auto j) { p.load_b(l, j); }); });
  for (std::int64_t i = 0; i < m; ++i) {
    if (js.size() <= ls.size()) {  // hold the row of C, stream A
      each(js, [&](auto j) { p.open_c(i, j); });
      each(ls, [&](auto l) {
        p.load_a(i, l);
        each(js, [&](auto j) { p.multiply_add(i, j, l); });
        p.drop_a(i, l);
      });
      each(js, [&](auto j) { p.store_c(i, j); });
    } else {
      each(ls, [&](auto l) { p.load_a(i, l); });
      each(js, [&](auto j) {
        p.open_c(i, j);
        each(ls, [&](auto l) { p.multiply_add(i, j, l); });
        p.store_c(i, j);
      });
      each(ls, [&](auto l) { p.drop_a(i, l); });
    }
  }
  each(ls, [&](auto l) { each(js, [&](auto j) { p.drop_b(l, j); }); });
}

void a_tile(Pebbles& p, Range is, Range ls, std::int64_t n) {
  each(is, [&](auto i) { each(ls, [&](auto l) { p.load_a(i, l); }); });
  for (std::int64_t j = 0; j < n; ++j) {
    if (is.size() <= ls.size()) {  // hold the column of C, stream B
      each(is, [&](auto i) { p.open_c(i, j); });
      each(ls, [&](auto l) {
        p.load_b(l, j);
        each(is, [&](auto i) { p.multiply_add(i, j, l); });
        p.drop_b(l, j);
      });
      each(is, [&](auto i) { p.store_c(i, j); });
    } else {
      each(ls, [&](auto l) { p.load_b(l, j); });
      each(is, [&](auto i) {
        p.open_c(i, j);
        each(ls, [&](auto l) { p.multiply_add(i, j, l); });
        p.store_c(i, j);
      });
      each(ls, [&](auto l) { p.drop_b(l, j); });
    }
  }
  each(is, [&](auto i) { each(ls, [&](auto l) { p.drop_a(i, l); }); });
}

template <class F>
void each_tile(std::int64_t height, std::int64_t width, std::int64_t rows, std::int64_t columns,
               F f) {
  for (std::int64_t r = 0; r < height; r += rows) {
    for (std::int64_t c = 0; c < width; c += columns) {
      f(Range{r, std::min(height, r + rows)}, Range{c, std::min(width, c + columns)});
    }
  }
}

}  // namespace

Result<FastMemoryRun> simulate_pebbles(const BoundQuestion& q, Resident resident, std::int64_t rows,
                                       std::int64_t columns) {
  if (auto ok = check_fast_memory_run("simulate", q, rows, columns); !ok) {
    return std::unexpected(ok.error());
  }
  if (q.m == 0 || q.n == 0 || q.k == 0) return FastMemoryRun{};
  const std::int64_t height = std::min(rows, resident == Resident::b ? q.k : q.m);
  const std::int64_t width = std::min(columns, resident == Resident::a ? q.k : q.n);
  auto needed = count_resident(q, resident, height, width);
  if (!needed) return std::unexpected(needed.error());
  if (needed->memory > q.fast_memory) {
    return bad_request("simulate: a resident tile of " + std::to_string(height) + " x " +
                       std::to_string(width) + " needs " + std::to_string(needed->memory) +
                       " elements of fast memory, " +
                       std::to_string(needed->memory - q.fast_memory) +
                       " more than S = " + std::to_string(q.fast_memory));
  }
  Pebbles pebbles(q);
  switch (resident) {
    case Resident::c:
      each_tile(q.m, q.n, height, width, [&](Range r, Range c) { c_tile(pebbles, r, c, q.k); });
      break;
    case Resident::a:
      each_tile(q.m, q.k, height, width, [&](Range r, Range c) { a_tile(pebbles, r, c, q.n); });
      break;
    case Resident::b:
      each_tile(q.k, q.n, height, width, [&](Range r, Range c) { b_tile(pebbles, r, c, q.m); });
      break;
  }
  if (!pebbles.legal()) {
    return std::unexpected(Error{ErrorCode::internal, "simulate: a pebble rule was broken"});
  }
  return pebbles.run();
}

}  // namespace tilewise
