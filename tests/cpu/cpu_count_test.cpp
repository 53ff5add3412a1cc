#include "cpu/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "cpu/caches.h"

namespace tilewise::cpu {
namespace {

// A file system of our own.
class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() /
            ("tilewise_root_" + std::to_string(getpid()) + "_" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

using Quota = FakeRoot;
using Caches = FakeRoot;

TEST_F(Quota, NoGroupsMeanNoLimit) { EXPECT_FALSE(quota_count(root())); }

TEST_F(Quota, Version2RoundsUp) {
  write("proc/self/cgroup", "0::/app\n");
  write("sys/fs/cgroup/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota_count(root()), 2);
}

TEST_F(Quota, Version2TakesTheTightestAncestor) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota_count(root()), 3);
}

TEST_F(Quota, Version2InAContainerSeesItsRoot) {
  write("proc/self/cgroup", "0::/docker/0123\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota_count(root()), 1);
}

TEST_F(Quota, Version1) {
  write("proc/self/cgroup", "5:devices:/x\n4:cpu,cpuacct:/x\n1:name=systemd:/\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_count(root()), 4);
}

TEST_F(Quota, Version1WithoutLimit) {
  write("proc/self/cgroup", "4:cpu:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(quota_count(root()));
}

TEST_F(Quota, NonsenseIsNoLimit) {
  write("proc/self/cgroup", "junk\n0::\n::\n4:cpu:/..\n");
  write("sys/fs/cgroup/cpu.max", "abc def\n");
  EXPECT_FALSE(quota_count(root()));
}

TEST(Affinity, FollowsTheMask) {
  cpu_set_t whole;
  ASSERT_EQ(sched_getaffinity(0, sizeof(whole), &whole), 0);
  EXPECT_EQ(affinity_count(), CPU_COUNT(&whole));
  std::thread narrow([&] {
    int first = 0;
    while (!CPU_ISSET(first, &whole)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(affinity_count(), 1);
    EXPECT_EQ(usable_cpus(), 1);
  });
  narrow.join();
}

TEST_F(Caches, ReadFromSysfs) {
  const std::string folder = "sys/devices/system/cpu/cpu0/cache/";
  const char* entries[][4] = {{"1", "Data", "48K", "0"},
                              {"1", "Instruction", "32K", "0"},
                              {"2", "Unified", "2048K", "0"},
                              {"3", "Unified", "30M", "0-3,8"}};
  for (int i = 0; i < 4; ++i) {
    const std::string index = folder + "index" + std::to_string(i) + "/";
    write(index + "level", entries[i][0]);
    write(index + "type", entries[i][1]);
    write(index + "size", entries[i][2]);
    write(index + "shared_cpu_list", entries[i][3]);
  }
  const CacheSizes sizes = read_cache_sizes(root());
  EXPECT_EQ(sizes.l1_bytes, 48 << 10);
  EXPECT_EQ(sizes.l2_bytes, 2 << 20);
  EXPECT_EQ(sizes.l3_bytes, 30 << 20);
  EXPECT_EQ(sizes.l3_shared_by, 5);
  EXPECT_EQ(sizes.source, "sysfs");
}

TEST_F(Caches, SayWhenTheyAreAssumed) {
  const CacheSizes sizes = read_cache_sizes(root());
  EXPECT_EQ(sizes.source, "assumed");
  EXPECT_GT(sizes.l1_bytes, 0);
  EXPECT_GT(sizes.l2_bytes, 0);
}

}  // namespace
}  // namespace tilewise::cpu
