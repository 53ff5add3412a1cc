// The measured read bandwidth of a working set.
#pragma once

#include <cstdint>

namespace tilewise::cpu {

// 10^9 bytes a second: `threads` threads each read their own buffer of bytes_per_thread over and
// over; the best of a few rounds. Buffers are touched first. seconds: of each round, about.
[[nodiscard]] double measure_read_bandwidth(std::int64_t bytes_per_thread, int threads,
                                            double seconds = 0.02);

}  // namespace tilewise::cpu
