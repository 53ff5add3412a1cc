// The exact optimum of a tiny product: 0-1 breadth-first search over the states of the pebble game.
//
// A state is which elements of A and B are in fast memory, and for each c whether it is in fast
// memory and which of its products it holds. Three rules keep the number of states small, and none
// loses an optimum: a product whose three elements are present is done at once (more progress with
// the same memory is never worse); a finished c is stored at once (the store must be paid, and
// frees a place); an element is dropped only when the memory is full.
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "model/check_sizes.h"
#include "tilewise/bounds.h"

namespace tilewise {
namespace {

using State = std::uint64_t;

// Open addressing from a state to the least cost known. State 0 (nothing held, nothing done) is the
// start, and is represented by the key ~0 (63 bits are used at most).
class CostTable {
 public:
  CostTable() : keys_(kFirst, 0), costs_(kFirst, 0) {}

  // Records the cost if it is new or lower; says whether it was.
  bool improve(State state, std::uint16_t cost) {
    if (2 * (size_ + 1) > keys_.size()) grow();
    const std::size_t at = find(key(state));
    if (keys_[at] == 0) {
      keys_[at] = key(state);
      costs_[at] = cost;
      ++size_;
      return true;
    }
    if (costs_[at] <= cost) return false;
    costs_[at] = cost;
    return true;
  }
  [[nodiscard]] std::uint16_t cost(State state) const { return costs_[find(key(state))]; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kFirst = 1024;
  static State key(State state) { return state == 0 ? ~State{0} : state; }

  [[nodiscard]] std::size_t find(State k) const {
    std::size_t at = (k * 0x9E3779B97F4A7C15u >> 20) & (keys_.size() - 1);
    while (keys_[at] != 0 && keys_[at] != k) at = (at + 1) & (keys_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<State> keys(2 * keys_.size(), 0);
    std::vector<std::uint16_t> costs(keys.size(), 0);
    keys.swap(keys_);
    costs.swap(costs_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == 0) continue;
      const std::size_t at = find(keys[i]);
      keys_[at] = keys[i];
      costs_[at] = costs[i];
    }
  }

  std::vector<State> keys_;
  std::vector<std::uint16_t> costs_;
  std::size_t size_ = 0;
};

class PebbleSearch {
 public:
  PebbleSearch(const BoundQuestion& q, bool k_in_order)
      : m_(static_cast<int>(q.m)),
        n_(static_cast<int>(q.n)),
        k_(static_cast<int>(q.k)),
        capacity_(q.fast_memory),
        updated_(q.output == Output::updated),
        in_order_(k_in_order) {}

  // Least number of transfers beyond the MN stores of finished results; -1: too many states.
  std::int64_t run() {
    std::vector<State> level{0}, next;
    seen_.improve(0, 0);
    for (std::uint16_t cost = 0; !level.empty(); ++cost) {
      while (!level.empty()) {
        const State state = level.back();
        level.pop_back();
        if (seen_.cost(state) != cost) continue;  // reached more cheaply since
        if (finished(state)) return cost;
        expand(state, cost, level, next);
        if (seen_.size() > static_cast<std::size_t>(kOptimalStates)) return -1;
      }
      level.swap(next);
    }
    return -1;
  }
  [[nodiscard]] std::int64_t states() const { return static_cast<std::int64_t>(seen_.size()); }

 private:
  // Bits, from the lowest: A (m, k), B (k, n), then for each c its k products and "in fast memory".
  [[nodiscard]] State a_bit(int i, int l) const { return State{1} << (i * k_ + l); }
  [[nodiscard]] State b_bit(int l, int j) const { return State{1} << (m_ * k_ + l * n_ + j); }
  [[nodiscard]] int c_shift(int i, int j) const {
    return m_ * k_ + k_ * n_ + (i * n_ + j) * (k_ + 1);
  }
  [[nodiscard]] State all_products() const { return (State{1} << k_) - 1; }
  [[nodiscard]] State products(State s, int i, int j) const {
    return (s >> c_shift(i, j)) & all_products();
  }
  [[nodiscard]] State c_bit(int i, int j) const { return State{1} << (c_shift(i, j) + k_); }

  [[nodiscard]] bool finished(State s) const {
    for (int i = 0; i < m_; ++i)
      for (int j = 0; j < n_; ++j)
        if (products(s, i, j) != all_products()) return false;
    return true;
  }

  [[nodiscard]] int held(State s) const {
    int count = std::popcount(s & ((State{1} << (m_ * k_ + k_ * n_)) - 1));
    for (int i = 0; i < m_; ++i)
      for (int j = 0; j < n_; ++j) count += (s & c_bit(i, j)) != 0;
    return count;
  }

  // Every product that c[i,j] can take now; a finished c is stored and leaves.
  [[nodiscard]] State accumulate(State s, int i, int j) const {
    for (int l = 0; l < k_; ++l) {
      const State product = State{1} << (c_shift(i, j) + l);
      if (s & product) continue;
      if ((s & a_bit(i, l)) && (s & b_bit(l, j))) {
        s |= product;
      } else if (in_order_) {
        break;
      }
    }
    if (products(s, i, j) == all_products()) s &= ~c_bit(i, j);
    return s;
  }

  [[nodiscard]] State accumulate_all(State s) const {
    for (int i = 0; i < m_; ++i)
      for (int j = 0; j < n_; ++j)
        if (s & c_bit(i, j)) s = accumulate(s, i, j);
    return s;
  }

  void expand(State s, std::uint16_t cost, std::vector<State>& level, std::vector<State>& next) {
    auto reach = [&](State to, bool paid) {
      const auto total = static_cast<std::uint16_t>(cost + paid);
      if (seen_.improve(to, total)) (paid ? next : level).push_back(to);
    };
    const int inputs = m_ * k_ + k_ * n_;
    if (held(s) == capacity_) {  // drop one
      for (int bit = 0; bit < inputs; ++bit) {
        if (s & (State{1} << bit)) reach(s & ~(State{1} << bit), false);
      }
      for (int i = 0; i < m_; ++i)
        for (int j = 0; j < n_; ++j)
          if (s & c_bit(i, j)) reach(s & ~c_bit(i, j), true);
      return;
    }
    for (int bit = 0; bit < inputs; ++bit) {
      if (!(s & (State{1} << bit))) reach(accumulate_all(s | (State{1} << bit)), true);
    }
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < n_; ++j) {
        const State done = products(s, i, j);
        if ((s & c_bit(i, j)) || done == all_products()) continue;
        const bool created = done == 0 && !updated_;
        const State to = accumulate(s | c_bit(i, j), i, j);
        // An accumulator that takes no product at once could be created later.
        if (!created || products(to, i, j) != 0) reach(to, !created);
      }
    }
  }

  int m_, n_, k_;
  std::int64_t capacity_;
  bool updated_, in_order_;
  CostTable seen_;
};

}  // namespace

Result<OptimalTraffic> optimal_traffic(const BoundQuestion& q, bool k_in_order) {
  if (auto floor = floor_elements(q); !floor) return std::unexpected(floor.error());
  if (q.memories != 1) {
    return bad_request("bound: --optimal plays with one fast memory, not " +
                       std::to_string(q.memories));
  }
  if (q.m == 0 || q.n == 0 || q.k == 0) return OptimalTraffic{};
  const Count bits = Count(q.m) * Count(q.k) + Count(q.k) * Count(q.n) +
                     Count(q.m) * Count(q.n) * (Count(q.k) + Count(1));
  if (!(bits <= Count(63))) {
    return bad_request("bound: --optimal explores every state, and " + std::to_string(q.m) + " x " +
                       std::to_string(q.n) + " x " + std::to_string(q.k) + " takes " +
                       bits.to_string() +
                       " bits a state (MK + KN + MN (K+1)); at most 63 fit: 3 x 3 x 3 takes 54");
  }
  PebbleSearch search(q, k_in_order);
  const std::int64_t transfers = search.run();
  if (transfers < 0) {
    return bad_request("bound: --optimal stopped after " + std::to_string(kOptimalStates) +
                       " states without an answer for " + std::to_string(q.m) + " x " +
                       std::to_string(q.n) + " x " + std::to_string(q.k) + " with S = " +
                       std::to_string(q.fast_memory) + "; 2 x 2 x 2 with any S is within reach");
  }
  OptimalTraffic result;
  result.states = search.states();
  result.reads_and_writes = transfers + q.m * q.n;
  return result;
}

}  // namespace tilewise
