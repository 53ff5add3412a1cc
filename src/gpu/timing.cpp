#include "gpu/timing.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "gpu/buffer.h"

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kMinRotatedBytes = std::int64_t{256} << 20;
constexpr std::int64_t kMaxLaunchesOfBatch = 1000;

// A pair of events around launches [first, first + count); milliseconds of all of them.
Result<double> time_batch(CuStream stream, const Event& begin, const Event& end, std::int64_t first,
                          std::int64_t count,
                          const std::function<Result<void>(std::int64_t)>& launch) {
  if (auto ok = begin.record(stream); !ok) return std::unexpected(ok.error());
  for (std::int64_t i = first; i < first + count; ++i) {
    if (auto ok = launch(i); !ok) return std::unexpected(ok.error());
  }
  if (auto ok = end.record(stream); !ok) return std::unexpected(ok.error());
  if (auto ok = end.synchronize(); !ok) return std::unexpected(ok.error());
  return end.milliseconds_since(begin);
}

}  // namespace

std::int64_t num_rotations(std::int64_t bytes, std::int64_t l2_bytes) {
  const std::int64_t wanted = std::max(2 * l2_bytes, kMinRotatedBytes);
  return bytes <= 0 ? 1 : (wanted + bytes - 1) / bytes;
}

Result<Timing> time_launches(CuStream stream,
                             const std::function<Result<void>(std::int64_t)>& launch,
                             const TimingOptions& options) {
  const auto begin = Event::create();
  const auto end = Event::create();
  if (!begin) return std::unexpected(begin.error());
  if (!end) return std::unexpected(end.error());

  std::int64_t next = 0;
  double spent_ms = 0;
  double launch_ms = 0;  // of the last warm-up batch: an estimate
  for (std::int64_t count = 1; spent_ms < options.warm_up_ms;
       count = std::min<std::int64_t>(2 * count, 64)) {
    const auto ms = time_batch(stream, *begin, *end, next, count, launch);
    if (!ms) return std::unexpected(ms.error());
    next += count;
    spent_ms += std::max(*ms, 0.01);
    launch_ms = *ms / static_cast<double>(count);
  }

  Timing timing;
  const auto per_batch = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(options.batch_ms / std::max(launch_ms, 1e-4)), 1,
      kMaxLaunchesOfBatch);
  std::vector<double> us;
  for (int i = 0; i < options.batches; ++i) {
    if (options.pause_ms > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.pause_ms));
      if (auto ok = launch(next++); !ok) return std::unexpected(ok.error());
    }
    const auto ms = time_batch(stream, *begin, *end, next, per_batch, launch);
    if (!ms) return std::unexpected(ms.error());
    next += per_batch;
    timing.launches += per_batch;
    us.push_back(*ms * 1000 / static_cast<double>(per_batch));
  }
  std::ranges::sort(us);
  timing.low_us = us.front();
  timing.median_us = us[us.size() / 2];
  timing.high_us = us.back();
  return timing;
}

}  // namespace tilewise::gpu
