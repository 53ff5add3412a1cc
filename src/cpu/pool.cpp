#include "cpu/pool.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "cpu/steering.h"

namespace tilewise::cpu {
namespace {

constexpr int kMaxWorkers = 1023;

// How often a caller that has nothing left to claim looks whether the workers have finished before
// it sleeps: some 20 us, less than falling asleep and being woken costs.
constexpr int kWaitSpins = 400;

// How often a worker that has run out of work looks for a new job before it sleeps: some 0.1 ms. A
// thread that has slept is often woken behind its caller on one core, and stays there for
// milliseconds; in a sequence of products the workers stay awake where they are.
constexpr int kIdleSpins = 6000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The counter that all threads write has a cache line of its own.
struct Job {  // NOLINT(clang-analyzer-optin.performance.Padding)
  TaskFunction function;
  void* context;
  std::int64_t tasks;
  int slots_left;                // guarded by the pool's mutex
  int next_slot = 1;             // likewise; the caller is slot 0
  std::atomic<int> helpers = 0;  // workers inside the job; written under the mutex
  alignas(64) std::atomic<std::int64_t> next_task = 0;

  // Claims and runs tasks until none is left.
  void work(int slot) {
    for (;;) {
      const std::int64_t task = next_task.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks) return;
      function(context, task, slot);
    }
  }
  bool has_tasks() const { return next_task.load(std::memory_order_relaxed) < tasks; }
};

// One worker, as the callers see it; guarded by the pool's mutex.
struct Sleeper {
  pid_t thread = 0;
  bool asleep = false;
  Steering steering;
};

std::atomic<Pool*> process_pool = nullptr;

}  // namespace

struct Pool::State {
  mutable std::mutex mutex;
  std::condition_variable work_available;
  std::condition_variable helper_left;
  std::vector<Job*> jobs;               // that still want helpers
  std::atomic<unsigned> announced = 0;  // jobs so far; changes while a worker looks out for one
  std::vector<std::thread> workers;
  std::list<Sleeper> sleepers;  // one for each worker that runs; addresses stay
  bool stopping = false;

  void start_workers(int wanted) {
    wanted = std::min(wanted, kMaxWorkers);
    while (static_cast<int>(workers.size()) < wanted) {
      try {
        workers.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {
        return;
      } catch (const std::bad_alloc&) {
        return;
      }
    }
  }

  // A job that has an unclaimed task and a free slot, or null. Under the mutex.
  Job* find_job() {
    for (Job* job : jobs) {
      if (job->slots_left > 0 && job->has_tasks()) return job;
    }
    return nullptr;
  }

  // Returns, with the lock held again, when a job is announced or after a while.
  void look_out(std::unique_lock<std::mutex>& lock) {
    const unsigned seen = announced.load(std::memory_order_relaxed);
    lock.unlock();
    for (int i = 0; i < kIdleSpins && announced.load(std::memory_order_relaxed) == seen; ++i) {
      pause_briefly();
    }
    lock.lock();
  }

  // Before `count` sleeping workers are woken. Under the mutex.
  void steer(int count) {
    for (Sleeper& sleeper : sleepers) {
      if (count == 0) return;
      if (!sleeper.asleep) continue;
      sleeper.steering.keep_off_this_core(sleeper.thread);
      --count;
    }
  }

  // Sleeps until there is a job (returned) or the pool stops (null).
  Job* wait_for_job(std::unique_lock<std::mutex>& lock, Sleeper& self) {
    Job* job = nullptr;
    self.asleep = true;
    work_available.wait(lock, [&] { return stopping || (job = find_job()) != nullptr; });
    self.asleep = false;
    self.steering.release();
    return job;
  }

  void serve() {
    std::unique_lock lock(mutex);
    Sleeper& self = sleepers.emplace_back();
    self.thread = static_cast<pid_t>(syscall(SYS_gettid));
    for (;;) {
      if (!stopping && find_job() == nullptr) look_out(lock);
      Job* job = stopping ? nullptr : find_job();
      if (job == nullptr) job = wait_for_job(lock, self);
      if (stopping) return;
      const int slot = job->next_slot++;
      --job->slots_left;
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      job->work(slot);
      lock.lock();
      // HAZARD: the last use of *job; its caller may return as soon as the count is zero and the
      // mutex free.
      if (job->helpers.fetch_sub(1, std::memory_order_release) == 1) helper_left.notify_all();
    }
  }
};

Pool::Pool() : state_(std::make_unique<State>()) {}

Pool::~Pool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->announced.fetch_add(1, std::memory_order_relaxed);
  }
  state_->work_available.notify_all();
  for (auto& worker : state_->workers) worker.join();
}

Pool& Pool::instance() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { process_pool.store(nullptr); });
  (void)registered;
  Pool* pool = process_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  auto fresh = std::make_unique<Pool>();
  if (process_pool.compare_exchange_strong(pool, fresh.get())) return *fresh.release();
  return *pool;
}

int Pool::num_workers() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<int>(state_->workers.size());
}

void Pool::run(std::int64_t tasks, int threads, TaskFunction function, void* context) {
  const int helpers = static_cast<int>(std::min<std::int64_t>(std::max(threads, 1), tasks)) - 1;
  if (helpers <= 0) {
    for (std::int64_t task = 0; task < tasks; ++task) function(context, task, 0);
    return;
  }
  Job job{.function = function, .context = context, .tasks = tasks, .slots_left = helpers};
  {
    const std::lock_guard lock(state_->mutex);
    state_->start_workers(helpers);
    state_->jobs.push_back(&job);
    state_->announced.fetch_add(1, std::memory_order_relaxed);
    state_->steer(helpers);
  }
  for (int i = 0; i < helpers; ++i) state_->work_available.notify_one();

  job.work(0);

  {
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->jobs, &job);  // from here on no worker can enter
  }
  for (int i = 0; i < kWaitSpins && job.helpers.load(std::memory_order_acquire) > 0; ++i) {
    pause_briefly();
  }
  std::unique_lock lock(state_->mutex);
  state_->helper_left.wait(lock, [&] { return job.helpers.load(std::memory_order_acquire) == 0; });
}

}  // namespace tilewise::cpu
