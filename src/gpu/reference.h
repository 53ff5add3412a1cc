// Random operands on the device, and float64 results to compare a product's with.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/buffer.h"
#include "parts/reference.cuh"
#include "tilewise/problem.h"

namespace tilewise::gpu {

// Enqueues standard normal values, rounded to the type; a function of seed and position alone.
[[nodiscard]] Result<void> fill_normal(Type type, const DeviceBuffer& buffer, std::uint64_t seed,
                                       CuStream stream);

// The four corners and up to `count` further elements of D, spread over all of it.
[[nodiscard]] std::vector<Sample> sample_elements(const Problem& problem, std::int64_t count);

struct SampledProduct {
  std::vector<double> sums;        // of a b over k, in float64
  std::vector<double> magnitudes;  // of |a b|
  std::vector<double> results;     // what stands in d
};

// Waits for the result. Pointers are device pointers to element (0,0) of batch 0.
[[nodiscard]] Result<SampledProduct> sample_product(const Problem& problem, const void* a,
                                                    const void* b, const void* d,
                                                    const std::vector<Sample>& samples);

// How far the sampled results are from float64, beside what rounding may cost (docs/gpu.md).
struct MeasuredError {
  // |d - sum| and its bound, at the sample that comes closest to it; infinite where a result is no
  // number.
  double max_error = 0;
  double bound = 0;
  double worst_share = 0;  // max of |d - sum| / bound; at most 1 where verified
  bool verified = false;
};
[[nodiscard]] MeasuredError compare(const Problem& problem, int promote_every,
                                    const SampledProduct& product);

}  // namespace tilewise::gpu
