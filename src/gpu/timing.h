// Times of kernels on the device, by events.
#pragma once

#include <cstdint>
#include <functional>

#include "gpu/device.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

// A card at its power limit slows down within tens of milliseconds, by as much as the launches
// before drew. So each batch begins after a pause, and what is timed does not depend on what was
// timed before it.
struct TimingOptions {
  double warm_up_ms = 50;  // at least this much work first, so that clocks and caches settle
  double pause_ms = 100;   // before each batch; its first launch is then not timed
  double batch_ms = 10;    // launches of a batch follow each other without a gap
  int batches = 9;
};

// Microseconds of one launch: the median over batches, and the fastest and the slowest batch.
struct Timing {
  double median_us = 0, low_us = 0, high_us = 0;
  std::int64_t launches = 0;  // timed ones
};

// `launch(i)` enqueues the i-th launch on the stream (i selects among rotated buffers). Waits for
// the stream. Error: the first that a launch reports.
[[nodiscard]] Result<Timing> time_launches(CuStream stream,
                                           const std::function<Result<void>(std::int64_t)>& launch,
                                           const TimingOptions& options = {});

// How many copies of `bytes` of operands to rotate so that none is found in the L2: together they
// are more than twice its size, and 256 MiB at least.
[[nodiscard]] std::int64_t num_rotations(std::int64_t bytes, std::int64_t l2_bytes);

}  // namespace tilewise::gpu
