// Workspaces kept between runs of one plan, so that only the first runs allocate.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace tilewise::cpu {

struct FreeBytes {
  std::align_val_t alignment{64};
  void operator()(std::byte* bytes) const;
};
using Workspace = std::unique_ptr<std::byte, FreeBytes>;

// Never waits: where another thread is inside take or give, memory comes from the system and goes
// back to it. That also holds in a forked child whose parent had a thread inside.
class WorkspacePool {
 public:
  explicit WorkspacePool(std::size_t bytes) : bytes_(bytes) {}

  // 64-byte aligned, and a large one on huge pages where the system has them; null where memory is
  // exhausted.
  [[nodiscard]] Workspace take();
  void give(Workspace workspace);

 private:
  static constexpr std::size_t kMostKept = 16;
  const std::size_t bytes_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::vector<Workspace> kept_;
};

}  // namespace tilewise::cpu
