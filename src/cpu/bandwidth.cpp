#include "cpu/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace tilewise::cpu {
namespace {

constexpr int kRounds = 3;
constexpr std::size_t kBytesBetweenClocks = std::size_t{1} << 22;

using Clock = std::chrono::steady_clock;

// Independent sums, so that adding never waits for itself: eight vectors of 32 bytes.
using Vector __attribute__((vector_size(32))) = std::uint64_t;
constexpr std::size_t kSums = 8;
constexpr std::size_t kWordsPerStep = kSums * sizeof(Vector) / sizeof(std::uint64_t);

__attribute__((always_inline)) inline std::uint64_t sum_words(const std::uint64_t* words,
                                                              std::size_t count) {
  Vector sums[kSums] = {};
  for (std::size_t i = 0; i < count; i += kWordsPerStep) {
#pragma GCC unroll 8  // in registers, even at -O2
    for (std::size_t j = 0; j < kSums; ++j) {
      Vector loaded;
      __builtin_memcpy(&loaded, words + i + j * 4, sizeof(loaded));
      sums[j] += loaded;
    }
  }
  std::uint64_t sum = 0;
  for (const Vector& vector : sums) sum += vector[0] + vector[1] + vector[2] + vector[3];
  return sum;
}

std::uint64_t sum_baseline(const std::uint64_t* words, std::size_t count) {
  return sum_words(words, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::uint64_t sum_avx2(const std::uint64_t* words,
                                                       std::size_t count) {
  return sum_words(words, count);
}
#endif

using Sum = std::uint64_t (*)(const std::uint64_t*, std::size_t);

Sum widest_sum() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return sum_avx2;
#endif
  return sum_baseline;
}

// Reads the buffer for that long; bytes a second.
double read_rate(const std::vector<std::uint64_t>& buffer, double seconds,
                 std::atomic<std::uint64_t>& sink) {
  const Sum sum = widest_sum();
  const std::size_t bytes = buffer.size() * sizeof(std::uint64_t);
  const std::size_t repeats = std::max<std::size_t>(1, kBytesBetweenClocks / bytes);
  std::uint64_t total = 0;
  std::size_t rounds = 0;
  double passed = 0;
  const auto begin = Clock::now();
  while (passed < seconds) {
    for (std::size_t i = 0; i < repeats; ++i) total += sum(buffer.data(), buffer.size());
    rounds += repeats;
    passed = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  sink.fetch_add(total, std::memory_order_relaxed);  // used, so that the reads are not left out
  return static_cast<double>(rounds) * static_cast<double>(bytes) / passed;
}

}  // namespace

double measure_read_bandwidth(std::int64_t bytes_per_thread, int threads, double seconds) {
  const std::size_t words = std::max<std::size_t>(
      static_cast<std::size_t>(bytes_per_thread) / 8 / kWordsPerStep * kWordsPerStep,
      kWordsPerStep);
  std::vector<std::vector<std::uint64_t>> buffers(static_cast<std::size_t>(threads));
  for (auto& buffer : buffers) buffer.assign(words, 1);
  std::atomic<std::uint64_t> sink{0};
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> rates(buffers.size());
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < buffers.size(); ++t) {
      others.emplace_back([&, t] { rates[t] = read_rate(buffers[t], seconds, sink); });
    }
    rates[0] = read_rate(buffers[0], seconds, sink);
    for (std::thread& other : others) other.join();
    double total = 0;
    for (const double rate : rates) total += rate;
    best = std::max(best, total);
  }
  return best / 1e9;
}

}  // namespace tilewise::cpu
