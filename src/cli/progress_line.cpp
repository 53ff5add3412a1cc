#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tilewise::cli {

ProgressLine::ProgressLine(std::FILE* out) : out_(out) {
  const int descriptor = ::fileno(out);
  if (descriptor < 0 || ::isatty(descriptor) == 0) return;
  thread_ = std::thread([this] { show_until_stopped(); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  stopped_changed_.notify_one();
  thread_.join();
  if (drawn_) std::fputs("\r\033[K", out_);
  std::fflush(out_);
}

void ProgressLine::set(std::string_view stage, double fraction) {
  if (!thread_.joinable()) return;
  const std::scoped_lock lock(mutex_);
  stage_ = stage;
  fraction_ = fraction;
}

void ProgressLine::show_until_stopped() {
  constexpr auto kQuiet = std::chrono::seconds(2);
  constexpr auto kInterval = std::chrono::milliseconds(250);
  std::unique_lock lock(mutex_);
  auto wake = start_ + kQuiet;
  while (!stopped_changed_.wait_until(lock, wake, [this] { return stopped_; })) {
    draw();
    wake = std::chrono::steady_clock::now() + kInterval;
  }
}

void ProgressLine::draw() {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string share = fraction_ < 0 ? "" : fmt::format(" {:.0f} %", 100 * fraction_);
  const std::string line = fmt::format("\r\033[K{}{}, {:.0f} s", stage_, share, seconds);
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
  drawn_ = true;
}

}  // namespace tilewise::cli
