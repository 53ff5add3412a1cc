#include "cpu/pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace tilewise::cpu {
namespace {

TEST(Pool, RunsEveryTaskOnce) {
  Pool pool;
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::int64_t tasks : {0, 1, 2, 3, 100, 10000}) {
      const auto runs = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(tasks) + 1);
      pool.run(tasks, threads,
               [&](std::int64_t task, int) { ++runs[static_cast<std::size_t>(task)]; });
      for (std::int64_t t = 0; t < tasks; ++t) EXPECT_EQ(runs[static_cast<std::size_t>(t)], 1);
    }
  }
}

TEST(Pool, ASlotIsUsedByOneThreadAtATime) {
  Pool pool;
  constexpr int kThreads = 4;
  std::atomic<int> inside[kThreads] = {};
  std::atomic<int> collisions = 0;
  pool.run(2000, kThreads, [&](std::int64_t, int slot) {
    if (++inside[slot] != 1) ++collisions;
    std::this_thread::yield();
    --inside[slot];
  });
  EXPECT_EQ(collisions, 0);
}

TEST(Pool, StartsNoThreadForOneTask) {
  Pool pool;
  pool.run(1, 8, [](std::int64_t, int) {});
  pool.run(8, 1, [](std::int64_t, int) {});
  EXPECT_EQ(pool.num_workers(), 0);
  pool.run(8, 3, [](std::int64_t, int) {});
  EXPECT_EQ(pool.num_workers(), 2);
}

TEST(Pool, WorkersHelp) {
  Pool pool;
  // Two tasks that each wait for the other: they end only if two threads run them.
  std::atomic<int> arrived = 0;
  pool.run(2, 2, [&](std::int64_t, int) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Pool, SeveralCallersAtOnce) {
  Pool pool;
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> total = 0;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::int64_t> mine = 0;
        pool.run(20, 3, [&](std::int64_t task, int) { mine += task; });
        total += mine;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 200 * 190);
}

TEST(Pool, ATaskMayRunAJobOfItsOwn) {
  Pool pool;
  std::atomic<int> runs = 0;
  pool.run(4, 2, [&](std::int64_t, int) { pool.run(5, 2, [&](std::int64_t, int) { ++runs; }); });
  EXPECT_EQ(runs, 20);
}

// Waking steers a worker off the caller's core for a moment; its own set of cores must come back.
TEST(Pool, WorkersKeepTheirCores) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  Pool pool;
  std::atomic<int> wrong = 0;
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the workers fall asleep
    pool.run(64, 3, [&](std::int64_t, int slot) {
      cpu_set_t mine;
      if (sched_getaffinity(0, sizeof(mine), &mine) != 0 || !CPU_EQUAL(&mine, &allowed)) ++wrong;
      if (slot == 0) std::this_thread::yield();
    });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, AForkedChildStartsAnew) {
  Pool::instance().run(100, 3, [](std::int64_t, int) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> runs = 0;
    Pool::instance().run(100, 3, [&](std::int64_t, int) { ++runs; });
    _exit(runs == 100 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Pool, AForkWhileAnotherThreadWorks) {
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) Pool::instance().run(50, 3, [](std::int64_t, int) {});
  });
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      std::atomic<int> runs = 0;
      Pool::instance().run(50, 3, [&](std::int64_t, int) { ++runs; });
      _exit(runs == 50 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace tilewise::cpu
