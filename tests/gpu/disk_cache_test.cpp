#include "gpu/disk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gpu/kernel_cache.h"
#include "gpu/probe_kernel.h"

namespace tilewise::gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DiskCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("tilewise_cache_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }

  // A unit of its own, so that the memory of this process does not hold it yet.
  static TranslationUnit unit(const std::string& mark) {
    const Problem problem = make_problem(8, 8, 8);
    const Schedule schedule = probe_schedule();
    TranslationUnit unit =
        write_translation_unit(probe_files(), problem, schedule, make_constants(problem, schedule))
            .value();
    unit.source.text += "// " + mark + "\n";
    return unit;
  }

  fs::path entry() const {
    for (const auto& file : fs::directory_iterator(folder_ / "tilewise")) {
      if (file.path().extension() == ".cubin") return file.path();
    }
    return {};
  }

  fs::path folder_;
};

CompiledKernel compile_probe() {
  const Problem problem = make_problem(8, 8, 8);
  const Schedule schedule = probe_schedule();
  return compile_unit(write_translation_unit(probe_files(), problem, schedule,
                                             make_constants(problem, schedule))
                          .value(),
                      "sm_90a")
      .value();
}

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST_F(DiskCacheTest, ReturnsWhatWasStored) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  const CompiledKernel kernel = compile_probe();
  const DiskCache cache(folder_ / "a" / "b");
  ASSERT_TRUE(cache.usable()) << cache.reason();
  EXPECT_FALSE(cache.load("k1").has_value());
  ASSERT_TRUE(cache.store("k1", kernel));
  const auto loaded = cache.load("k1");
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->cubin, kernel.cubin);
  EXPECT_EQ(loaded->architecture, "sm_90a");
  EXPECT_EQ(loaded->resources, kernel.resources);
  EXPECT_EQ(loaded->launch.shared_bytes, kernel.launch.shared_bytes);
  struct stat status;
  ASSERT_EQ(stat(cache.folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(DiskCacheTest, NeverLoadsADamagedEntry) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  const DiskCache cache(folder_ / "c");
  const CompiledKernel kernel = compile_probe();
  ASSERT_TRUE(cache.store("k", kernel));
  const fs::path path = cache.folder() / "k.cubin";
  const std::string good = read_file(path);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{5}, std::size_t{100}, good.size() / 2, good.size() - 1}) {
    write_file(path, std::string_view(good).substr(0, length));
    EXPECT_FALSE(cache.load("k").has_value()) << "truncated to " << length;
  }
  for (std::size_t at = 0; at < good.size(); at += 97) {
    std::string noisy = good;
    noisy[at] = static_cast<char>(noisy[at] ^ 0x40);
    write_file(path, noisy);
    EXPECT_FALSE(cache.load("k").has_value()) << "noise at byte " << at;
  }
  write_file(path, good);
  EXPECT_TRUE(cache.load("k").has_value());
  fs::rename(path, cache.folder() / "other.cubin");
  EXPECT_FALSE(cache.load("other").has_value()) << "an entry of another key";
}

TEST_F(DiskCacheTest, RefusesFoldersThatAreNotPrivate) {
  write_file(folder_ / "file", "x");
  EXPECT_THAT(DiskCache(folder_ / "file").reason(), HasSubstr("not a folder"));
  fs::create_directory(folder_ / "real");
  fs::create_directory_symlink(folder_ / "real", folder_ / "link");
  EXPECT_THAT(DiskCache(folder_ / "link").reason(), HasSubstr("not a folder"));
  fs::create_directory(folder_ / "open");
  chmod((folder_ / "open").c_str(), 0777);
  EXPECT_TRUE(DiskCache(folder_ / "open").usable());
  struct stat status;
  ASSERT_EQ(stat((folder_ / "open").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_THAT(DiskCache(fs::path()).reason(), HasSubstr("HOME"));
  EXPECT_FALSE(DiskCache("/proc/nowhere/tilewise").usable());
}

TEST_F(DiskCacheTest, KernelsComeFromMemoryThenDiskThenCompiler) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  EXPECT_EQ(find_kernel(unit("order"), "sm_90a").value().origin, KernelOrigin::compiled);
  EXPECT_EQ(find_kernel(unit("order"), "sm_90a").value().origin, KernelOrigin::memory);
  EXPECT_FALSE(entry().empty());
}

// What another process does with the folder that this one left.
KernelOrigin origin_in_child(const TranslationUnit& unit) {
  const pid_t child = fork();
  if (child == 0) {
    const auto found = find_kernel(unit, "sm_90a");
    _exit(found ? static_cast<int>(found->origin) : 99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return static_cast<KernelOrigin>(WEXITSTATUS(status));
}

TEST_F(DiskCacheTest, ADamagedEntryIsRebuilt) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  const TranslationUnit probe = unit("rebuilt");
  EXPECT_EQ(origin_in_child(probe), KernelOrigin::compiled);
  EXPECT_EQ(origin_in_child(probe), KernelOrigin::disk);
  write_file(entry(), "noise");
  EXPECT_EQ(origin_in_child(probe), KernelOrigin::compiled);
  EXPECT_EQ(origin_in_child(probe), KernelOrigin::disk);
}

TEST_F(DiskCacheTest, AnUnusableFolderStillCompiles) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  EXPECT_EQ(origin_in_child(unit("unwritable")), KernelOrigin::compiled);
}

TEST_F(DiskCacheTest, ManyProcessesAtOnceAllSucceedAndOneCompiles) {
  if (!nvrtc()) GTEST_SKIP() << nvrtc().error().message;
  constexpr int kProcesses = 200;
  const TranslationUnit probe = unit("many");
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto found = find_kernel(probe, "sm_90a");
      _exit(found ? static_cast<int>(found->origin) : 99);
    }
    ASSERT_GT(child, 0);
    children.push_back(child);
  }
  int compiled = 0, from_disk = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    compiled += WEXITSTATUS(status) == static_cast<int>(KernelOrigin::compiled);
    from_disk += WEXITSTATUS(status) == static_cast<int>(KernelOrigin::disk);
  }
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(from_disk, kProcesses - 1);
  for (const auto& file : fs::directory_iterator(folder_ / "tilewise")) {
    EXPECT_NE(file.path().extension(), ".tmp");
  }
}

}  // namespace
}  // namespace tilewise::gpu
