#include "cpu/workspace_pool.h"

#include <new>

namespace tilewise::cpu {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

void FreeBytes::operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }

Workspace WorkspacePool::take() {
  if (!busy_.test_and_set(std::memory_order_acquire)) {
    Workspace workspace;
    if (!kept_.empty()) {
      workspace = std::move(kept_.back());
      kept_.pop_back();
    }
    busy_.clear(std::memory_order_release);
    if (workspace) return workspace;
  }
  return Workspace(static_cast<std::byte*>(::operator new(bytes_, kAlignment, std::nothrow)));
}

void WorkspacePool::give(Workspace workspace) {
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  if (kept_.capacity() == 0) kept_.reserve(kMostKept);
  if (kept_.size() < kMostKept) kept_.push_back(std::move(workspace));
  busy_.clear(std::memory_order_release);
}

}  // namespace tilewise::cpu
