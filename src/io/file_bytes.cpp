#include "io/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/wording.h"

namespace tilewise {
namespace {

std::unexpected<Error> system_problem(std::string_view name, std::string_view action) {
  return bad_request(
      fmt::format("{} cannot be {}: {}", in_quotes(name), action, std::strerror(errno)));
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  const bool standard = path == "-";
  // Duplicated, so that closing it leaves standard input open.
  const int descriptor =
      standard ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  InputFile file(descriptor, standard ? "standard input" : path);
  if (descriptor < 0) return system_problem(file.name_, "opened");
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return system_problem(file.name_, "read");
  if (S_ISDIR(status.st_mode)) {
    return bad_request(fmt::format("{} is a directory; a file is needed", in_quotes(file.name_)));
  }
  // Standard input may stand in the middle of a file: it is read in order.
  file.is_regular_ = S_ISREG(status.st_mode) && !standard;
  file.size_bytes_ = status.st_size;
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      is_regular_(other.is_regular_),
      size_bytes_(other.size_bytes_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<FileBytes> InputFile::map() const {
  if (size_bytes_ == 0) return FileBytes{};  // an empty file cannot be mapped
  const auto size = static_cast<std::size_t>(size_bytes_);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (address == MAP_FAILED) return system_problem(name_, "mapped");
  std::shared_ptr<const void> owner(
      address, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return FileBytes{{static_cast<const std::byte*>(address), size}, std::move(owner)};
}

Result<std::size_t> InputFile::read(std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_problem(name_, "read");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Result<std::string> read_text_file(const std::string& path, std::size_t limit_bytes) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  constexpr std::size_t kChunkBytes = 1 << 16;
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kChunkBytes);
    const Result<std::size_t> count =
        file->read(std::as_writable_bytes(std::span(text).subspan(before)));
    if (!count) return std::unexpected(count.error());
    text.resize(before + *count);
    if (text.size() > limit_bytes) {
      return bad_request(fmt::format("{} is longer than {} bytes, the most that is read",
                                     in_quotes(file->name()), limit_bytes));
    }
    if (*count < kChunkBytes) return text;
  }
}

}  // namespace tilewise
