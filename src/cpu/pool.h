// The thread pool. Tasks are claimed one by one from an atomic counter; the caller claims too, and
// can finish alone if no worker ever comes. Workers sleep in the kernel between jobs.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace tilewise::cpu {

// A job's body: task is in [0, tasks); slot in [0, threads) is unique among the threads that run
// this job at the same time, and selects a workspace.
using TaskFunction = void (*)(void* context, std::int64_t task, int slot);

class Pool {
 public:
  // The process's pool. Never destroyed. A forked child starts a new one: the parent's workers do
  // not exist there, and its locks may be held by threads that do not either.
  [[nodiscard]] static Pool& instance();

  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Runs every task once on up to `threads` threads, this one included, and returns when all are
  // done. Several callers may run jobs at once; each makes progress on its own. Tasks must not
  // throw. A thread that cannot be started is done without.
  void run(std::int64_t tasks, int threads, TaskFunction function, void* context);

  template <class Body>
  void run(std::int64_t tasks, int threads, const Body& body) {
    static_assert(std::is_invocable_v<const Body&, std::int64_t, int>);
    run(
        tasks, threads,
        [](void* context, std::int64_t task, int slot) {
          (*static_cast<const Body*>(context))(task, slot);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  [[nodiscard]] int num_workers() const;  // started so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewise::cpu
