#include "io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "io/wording.h"

namespace tilewise {
namespace {

enum class Destination { standard_output, replaced, direct };

// What the path leads to. A symbolic link is replaced in `path` by what it points to.
Result<Destination> destination_of(std::string& path) {
  if (path == "-") return Destination::standard_output;
  if (path.empty()) return bad_request("the output path is \"\"; a file name or - is needed");
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    const auto target = std::filesystem::weakly_canonical(path, ignored);
    if (!target.empty()) path = target.string();
  }
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return bad_request(
          fmt::format("the output {} is a directory; a file name is needed", in_quotes(path)));
    }
    return S_ISREG(status.st_mode) ? Destination::replaced : Destination::direct;
  }
  if (path.back() == '/') {
    return bad_request(
        fmt::format("the output {} ends in /; a file name is needed", in_quotes(path)));
  }
  return Destination::replaced;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::unexpected<Error> cannot_write(const std::string& path) {
  return bad_request(
      fmt::format("the output {} cannot be written: {}", in_quotes(path), std::strerror(errno)));
}

}  // namespace

Result<void> check_output_path(const std::string& path) {
  std::string resolved = path;
  const Result<Destination> destination = destination_of(resolved);
  if (!destination) return std::unexpected(destination.error());
  if (*destination == Destination::standard_output) return {};
  const bool direct = *destination == Destination::direct;
  const std::string target = direct ? resolved : folder_of(resolved);
  if (::access(target.c_str(), direct ? W_OK : W_OK | X_OK) != 0) return cannot_write(path);
  struct stat status{};
  if (!direct && ::stat(target.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    return cannot_write(path);
  }
  return {};
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  std::string resolved = path;
  const Result<Destination> destination = destination_of(resolved);
  if (!destination) return std::unexpected(destination.error());
  if (*destination == Destination::standard_output) {
    // Duplicated, so that commit() closes (and so checks) what was written here alone.
    OutputFile file(::dup(STDOUT_FILENO), "standard output", "");
    if (file.descriptor_ < 0) return cannot_write(file.path_);
    return file;
  }
  const bool direct = *destination == Destination::direct;
  constexpr mode_t kMode = 0666;  // less the process's mask
  std::string temporary;
  int descriptor = -1;
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (direct) {
      descriptor = ::open(resolved.c_str(), O_WRONLY | O_CLOEXEC);
      break;
    }
    temporary = fmt::format("{}.{}.{}.part", resolved, ::getpid(), attempt);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor >= 0 || errno != EEXIST) break;
  }
  if (descriptor < 0) return cannot_write(path);
  return OutputFile(descriptor, std::move(resolved), std::move(temporary));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

std::unexpected<Error> OutputFile::failure() const { return cannot_write(path_); }

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> OutputFile::commit() {
  if (::close(std::exchange(descriptor_, -1)) != 0) return failure();
  if (temporary_.empty()) return {};
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failure();
  temporary_.clear();
  return {};
}

}  // namespace tilewise
