// A bounded cache of plans: the least recently used one is dropped.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tilewise/plan.h"
#include "tilewise/problem.h"

namespace tilewise {

class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

  // Thread-safe. A plan that was handed out stays valid after it is dropped.
  [[nodiscard]] std::optional<Plan> find(const Problem& problem);
  void insert(const Problem& problem, const Plan& plan);
  [[nodiscard]] std::size_t size() const;

 private:
  using Entries = std::list<std::pair<Problem, Plan>>;  // most recently used first
  mutable std::mutex mutex_;
  std::size_t capacity_;
  Entries entries_;
  std::unordered_map<Problem, Entries::iterator> index_;
};

}  // namespace tilewise
