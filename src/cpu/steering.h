// Where a sleeping thread wakes up.
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace tilewise::cpu {

// A thread that has slept is often woken on the core of the thread that wakes it, and stays queued
// behind it for milliseconds while another core is idle. So the waker forbids it that core first,
// and the woken thread allows itself all of its cores again: it goes on where it is.
class Steering {
 public:
  // Called by the waker, for a thread of this process. Does nothing where the thread has no other
  // core or the system refuses.
  void keep_off_this_core(pid_t thread);

  // Called by the woken thread.
  void release();

 private:
  cpu_set_t allowed_{};  // before it was narrowed
  bool narrowed_ = false;
};

}  // namespace tilewise::cpu
