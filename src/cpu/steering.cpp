#include "cpu/steering.h"

namespace tilewise::cpu {

void Steering::keep_off_this_core(pid_t thread) {
  if (narrowed_ || sched_getaffinity(thread, sizeof(allowed_), &allowed_) != 0) return;
  const int core = sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed_)) return;
  cpu_set_t others = allowed_;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0) return;
  narrowed_ = sched_setaffinity(thread, sizeof(others), &others) == 0;
}

void Steering::release() {
  if (narrowed_) sched_setaffinity(0, sizeof(allowed_), &allowed_);
  narrowed_ = false;
}

}  // namespace tilewise::cpu
