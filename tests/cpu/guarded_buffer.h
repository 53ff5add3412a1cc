// Memory between two pages that may not be touched, with a canary pattern around the part in use.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilewise::testing {

// Where the used bytes lie: against the page before them, or against the page after them.
enum class Side { front, back };

class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, Side side, std::size_t alignment = 1) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes + page - 1) / page * page + (bytes == 0 ? page : 0);
    mapped_bytes_ = inside + 2 * page;
    mapped_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    inside_ = mapped_ + page;
    inside_bytes_ = inside;
    mprotect(inside_, inside, PROT_READ | PROT_WRITE);
    std::memset(inside_, kCanary, inside);
    const std::size_t slack = (inside - bytes) / alignment * alignment;
    data_ = inside_ + (side == Side::back ? slack : 0);
  }
  ~GuardedBuffer() { munmap(mapped_, mapped_bytes_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

  // From here on reading or writing the used bytes faults as well.
  void forbid() { mprotect(inside_, inside_bytes_, PROT_NONE); }

  [[nodiscard]] bool canaries_intact() const {
    for (const std::byte* at = inside_; at < inside_ + inside_bytes_; ++at) {
      const bool used = at >= data_ && at < data_ + bytes_;
      if (!used && *at != static_cast<std::byte>(kCanary)) return false;
    }
    return true;
  }

  static constexpr int kCanary = 0xa5;

 private:
  std::size_t bytes_, mapped_bytes_, inside_bytes_;
  std::byte *mapped_, *inside_, *data_;
};

}  // namespace tilewise::testing
