// A line on the terminal for work that takes longer than two seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tilewise::cli {

// Shows nothing where `out` is no terminal, and nothing in the first two seconds. The line is
// erased when the object ends. set() may be called from the working thread as often as it likes.
class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* out);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // fraction: negative where it is unknown.
  void set(std::string_view stage, double fraction);

 private:
  void show_until_stopped();
  void draw();

  std::FILE* out_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable stopped_changed_;
  bool stopped_ = false;
  bool drawn_ = false;
  std::string stage_;
  double fraction_ = -1;
  std::thread thread_;  // last: it uses what stands above
};

}  // namespace tilewise::cli
