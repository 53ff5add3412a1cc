// Compiled kernels on disk, safe under many processes at once and against damaged files. A cache
// that cannot be used is no error: kernels are then compiled in each process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/compile.h"

namespace tilewise::gpu {

// Holds an exclusive lock on one key while it lives, so that one process compiles and the others
// wait.
class CacheLock {
 public:
  CacheLock() = default;
  explicit CacheLock(int file) : file_(file) {}
  CacheLock(CacheLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  CacheLock& operator=(CacheLock&&) = delete;
  ~CacheLock();

 private:
  int file_ = -1;
};

class DiskCache {
 public:
  // Takes a folder of mode 0700 that this user owns; makes it where it is missing. Anything else (a
  // link, another owner, no right to make it) leaves the cache unusable, and reason() says why.
  explicit DiskCache(std::filesystem::path folder);

  // $XDG_CACHE_HOME/tilewise, else ~/.cache/tilewise; empty where neither variable is set.
  [[nodiscard]] static std::filesystem::path default_folder();

  [[nodiscard]] bool usable() const { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // An entry that is absent, truncated, damaged, of another key or not ours is nothing.
  [[nodiscard]] std::optional<CompiledKernel> load(std::string_view key) const;

  // Writes a temporary file and renames it, so that a reader sees all of an entry or none. False
  // where that failed; nothing is left behind.
  bool store(std::string_view key, const CompiledKernel& kernel) const;

  // Waits at most ten seconds for another process that compiles the same key; without the lock the
  // caller simply compiles too.
  [[nodiscard]] CacheLock lock(std::string_view key) const;

 private:
  std::filesystem::path folder_;
  std::string reason_;
};

}  // namespace tilewise::gpu
