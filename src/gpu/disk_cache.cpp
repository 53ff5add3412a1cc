#include "gpu/disk_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gpu/kernel_record.h"
#include "gpu/sha256.h"

namespace tilewise::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "tilewise.cubin/1\n";
constexpr std::size_t kDigestChars = 64;
constexpr mode_t kPrivate = 0700;

// Makes the folder private; the text says why it cannot be used, empty if it can.
std::string prepare_folder(const fs::path& folder) {
  if (folder.empty()) return "neither XDG_CACHE_HOME nor HOME is set";
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), kPrivate) != 0 && errno != EEXIST) {
    return folder.string() + " cannot be made: " + std::strerror(errno);
  }
  struct stat status;
  if (lstat(folder.c_str(), &status) != 0) {
    return folder.string() + " cannot be read: " + std::strerror(errno);
  }
  if (!S_ISDIR(status.st_mode)) return folder.string() + " is not a folder";
  if (status.st_uid != geteuid()) return folder.string() + " belongs to another user";
  if ((status.st_mode & 077) != 0 && chmod(folder.c_str(), kPrivate) != 0) {
    return folder.string() + " is open to other users and its mode cannot be changed";
  }
  return {};
}

// A regular file of this user, read whole.
std::optional<std::string> read_own_file(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return {};
  struct stat status;
  std::optional<std::string> text;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()) {
    text.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text->size()) {
      const ssize_t got = read(file, text->data() + done, text->size() - done);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    if (done != text->size()) text.reset();
  }
  close(file);
  return text;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(file, text.data(), text.size());
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

CacheLock::~CacheLock() {
  if (file_ >= 0) close(file_);
}

DiskCache::DiskCache(fs::path folder)
    : folder_(std::move(folder)), reason_(prepare_folder(folder_)) {}

fs::path DiskCache::default_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "tilewise";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "tilewise";
  return {};
}

std::optional<CompiledKernel> DiskCache::load(std::string_view key) const {
  if (!usable()) return {};
  const auto text = read_own_file(folder_ / (std::string(key) + ".cubin"));
  if (!text || !text->starts_with(kMagic)) return {};
  std::string_view rest = std::string_view(*text).substr(kMagic.size());
  if (rest.size() < kDigestChars + 1) return {};
  const std::string_view digest = rest.substr(0, kDigestChars);
  rest.remove_prefix(kDigestChars + 1);
  if (sha256_hex(rest) != digest) return {};
  return unpack_kernel(key, rest);
}

bool DiskCache::store(std::string_view key, const CompiledKernel& kernel) const {
  if (!usable()) return false;
  const std::string content = pack_kernel(key, kernel);
  std::string temporary = (folder_ / (std::string(key) + ".XXXXXX")).string();
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write_all(file, kMagic) && write_all(file, sha256_hex(content) + "\n") &&
                       write_all(file, content);
  const bool closed = close(file) == 0;
  const std::string final_name = (folder_ / (std::string(key) + ".cubin")).string();
  if (written && closed && rename(temporary.c_str(), final_name.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

CacheLock DiskCache::lock(std::string_view key) const {
  if (!usable()) return {};
  const fs::path path = folder_ / (std::string(key) + ".lock");
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return {};
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return CacheLock(file);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  close(file);
  return {};
}

}  // namespace tilewise::gpu
