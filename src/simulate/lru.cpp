// A fully associative least-recently-used memory of S elements.
#include <algorithm>
#include <vector>

#include "simulate/fast_memory_limits.h"
#include "tilewise/pebble.h"

namespace tilewise {
namespace {

class LruMemory {
 public:
  LruMemory(std::int64_t elements, std::int64_t capacity)
      : links_(static_cast<std::size_t>(elements) + 1), capacity_(capacity) {
    links_[0] = {0, 0};
  }

  // Touches an element (ids from 1). True: it was there. When one must go, it is left in `evicted`.
  bool touch(std::uint32_t id, std::uint32_t& evicted) {
    evicted = 0;
    const bool hit = links_[id].present();
    if (hit) {
      unlink(id);
    } else if (++size_ > capacity_) {
      evicted = links_[0].before;  // the oldest
      unlink(evicted);
      links_[evicted] = {};
      --size_;
    }
    link_newest(id);
    return hit;
  }
  [[nodiscard]] bool holds(std::uint32_t id) const { return links_[id].present(); }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kAbsent = ~0u;
  struct Link {  // a ring through entry 0: 0.after is the newest, 0.before the oldest
    std::uint32_t before = kAbsent, after = kAbsent;
    [[nodiscard]] bool present() const { return after != kAbsent; }
  };

  void unlink(std::uint32_t id) {
    links_[links_[id].before].after = links_[id].after;
    links_[links_[id].after].before = links_[id].before;
  }
  void link_newest(std::uint32_t id) {
    links_[id] = {0, links_[0].after};
    links_[links_[0].after].before = id;
    links_[0].after = id;
  }

  std::vector<Link> links_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
};

class LruRun {
 public:
  explicit LruRun(const BoundQuestion& q)
      : q_(q),
        first_b_(q.m * q.k),
        first_c_(first_b_ + q.k * q.n),
        memory_(first_c_ + q.m * q.n, q.fast_memory),
        started_(static_cast<std::size_t>(q.m * q.n), q.output == Output::updated) {}

  void multiply_add(std::int64_t i, std::int64_t j, std::int64_t l) {
    if (!touch(i * q_.k + l)) ++run_.reads_a;
    if (!touch(first_b_ + l * q_.n + j)) ++run_.reads_b;
    const std::int64_t c = i * q_.n + j;
    if (!touch(first_c_ + c) && started_[static_cast<std::size_t>(c)]) ++run_.reads_c;
    started_[static_cast<std::size_t>(c)] = true;
    ++run_.products;
  }

  FastMemoryRun finish() {
    for (std::int64_t c = 0; c < q_.m * q_.n; ++c) {
      if (memory_.holds(static_cast<std::uint32_t>(first_c_ + c + 1))) ++run_.writes_c;
    }
    return run_;
  }

 private:
  bool touch(std::int64_t element) {
    std::uint32_t evicted = 0;
    const bool hit = memory_.touch(static_cast<std::uint32_t>(element + 1), evicted);
    if (evicted > first_c_) ++run_.writes_c;  // an accumulator is always newer than its copy
    run_.peak = std::max(run_.peak, memory_.size());
    return hit;
  }

  BoundQuestion q_;
  std::int64_t first_b_, first_c_;
  LruMemory memory_;
  std::vector<bool> started_;
  FastMemoryRun run_;
};

}  // namespace

Result<FastMemoryRun> simulate_lru(const BoundQuestion& q, std::int64_t rows, std::int64_t columns,
                                   bool serpentine) {
  if (auto ok = check_fast_memory_run("simulate", q, rows, columns); !ok) {
    return std::unexpected(ok.error());
  }
  if (q.m == 0 || q.n == 0 || q.k == 0) return FastMemoryRun{};
  LruRun run(q);
  bool backwards = false;
  for (std::int64_t i0 = 0; i0 < q.m; i0 += std::min(rows, q.m - i0)) {
    for (std::int64_t j0 = 0; j0 < q.n; j0 += std::min(columns, q.n - j0)) {
      for (std::int64_t step = 0; step < q.k; ++step) {
        const std::int64_t l = backwards ? q.k - 1 - step : step;
        for (std::int64_t i = i0; i < std::min(q.m, i0 + rows); ++i) {
          for (std::int64_t j = j0; j < std::min(q.n, j0 + columns); ++j) run.multiply_add(i, j, l);
        }
      }
      backwards = serpentine && !backwards;
    }
  }
  return run.finish();
}

}  // namespace tilewise
