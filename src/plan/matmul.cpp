#include "tilewise/matmul.h"

#include <pthread.h>

#include <atomic>
#include <memory>

#include "plan/plan_cache.h"

namespace tilewise {
namespace {

constexpr std::size_t kMaxPlans = 64;

std::atomic<PlanCache*> process_cache = nullptr;

// Never destroyed. A forked child starts a new one: a thread that does not exist there may have
// held the lock of the old one.
PlanCache& plan_cache() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { process_cache.store(nullptr); });
  (void)registered;
  PlanCache* cache = process_cache.load(std::memory_order_acquire);
  if (cache != nullptr) return *cache;
  auto fresh = std::make_unique<PlanCache>(kMaxPlans);
  if (process_cache.compare_exchange_strong(cache, fresh.get())) return *fresh.release();
  return *cache;
}

const Machine& this_machine() {
  static const Machine machine = host_machine();
  return machine;
}

}  // namespace

Result<void> matmul(const Problem& problem, const void* a, const void* b, const void* c, void* d,
                    std::span<const void* const> operands) {
  PlanCache& cache = plan_cache();
  if (const auto plan = cache.find(problem)) return plan->run(a, b, c, d, operands);
  const auto plan = prepare(problem, nullptr, this_machine(), {.device = Device::cpu});
  if (!plan) return std::unexpected(plan.error());
  cache.insert(problem, *plan);
  return plan->run(a, b, c, d, operands);
}

}  // namespace tilewise
