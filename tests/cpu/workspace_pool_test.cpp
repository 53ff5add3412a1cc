// Workspaces: where they start, that all of one can be written, and that one given back is kept.
#include "cpu/workspace_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace tilewise::cpu {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::uintptr_t address_of(const Workspace& workspace) {
  return reinterpret_cast<std::uintptr_t>(workspace.get());
}

TEST(WorkspacePool, ASmallOneStartsOnACacheLine) {
  WorkspacePool pool(1000);
  const Workspace workspace = pool.take();
  ASSERT_TRUE(workspace);
  EXPECT_EQ(address_of(workspace) % 64, 0u);
  std::memset(workspace.get(), 1, 1000);
}

TEST(WorkspacePool, ALargeOneStartsOnAHugePage) {
  constexpr std::size_t kBytes = 2 * kHugePage + 64;  // the last bytes are on ordinary pages
  WorkspacePool pool(kBytes);
  const Workspace workspace = pool.take();
  ASSERT_TRUE(workspace);
  EXPECT_EQ(address_of(workspace) % kHugePage, 0u);
  std::memset(workspace.get(), 1, kBytes);
}

TEST(WorkspacePool, OneGivenBackIsTakenAgain) {
  for (const std::size_t bytes : {std::size_t{1000}, 2 * kHugePage}) {
    WorkspacePool pool(bytes);
    Workspace workspace = pool.take();
    const std::uintptr_t address = address_of(workspace);
    pool.give(std::move(workspace));
    EXPECT_EQ(address_of(pool.take()), address);
  }
}

}  // namespace
}  // namespace tilewise::cpu
