#include "cpu/workspace_pool.h"

#include <sys/mman.h>

#include <new>

namespace tilewise::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

// Asks for huge pages: panels and sums are then found without walks of the page tables, which cost
// most in a virtual machine. Where the system declines, ordinary pages do.
void ask_for_huge_pages([[maybe_unused]] void* bytes, [[maybe_unused]] std::size_t size) {
#ifdef MADV_HUGEPAGE
  (void)madvise(bytes, size / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
}

}  // namespace

void FreeBytes::operator()(std::byte* bytes) const { ::operator delete(bytes, alignment); }

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
  const bool large = bytes_ >= kHugePage;
  const std::align_val_t alignment{large ? kHugePage : kCacheLine};
  void* const bytes = ::operator new(bytes_, alignment, std::nothrow);
  if (large && bytes != nullptr) ask_for_huge_pages(bytes, bytes_);
  return Workspace(static_cast<std::byte*>(bytes), FreeBytes{alignment});
}

void WorkspacePool::give(Workspace workspace) {
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  if (kept_.capacity() == 0) kept_.reserve(kMostKept);
  if (kept_.size() < kMostKept) kept_.push_back(std::move(workspace));
  busy_.clear(std::memory_order_release);
}

}  // namespace tilewise::cpu
