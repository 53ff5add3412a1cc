#include "plan/plan_cache.h"

namespace tilewise {

std::optional<Plan> PlanCache::find(const Problem& problem) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(problem);
  if (found == index_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void PlanCache::insert(const Problem& problem, const Plan& plan) {
  const std::lock_guard lock(mutex_);
  if (index_.contains(problem) || capacity_ == 0) return;  // another thread was faster
  if (entries_.size() == capacity_) {
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(problem, plan);
  index_.emplace(problem, entries_.begin());
}

std::size_t PlanCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tilewise
