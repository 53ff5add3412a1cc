// What results are checked against: products of sampled elements in float64, and the random
// operands they are made from. For the command and the tests; no kernel of the ladder includes
// this.
#pragma once

#include "parts/arguments.cuh"
#include "parts/element.cuh"
#include "parts/host_device.cuh"

namespace tilewise {

// One element of D.
struct Sample {
  int64 batch, m, n;
};

// For sample i: sums[i] = the sum over k of a b, magnitudes[i] = the sum of |a b|, and results[i]
// the element that a kernel wrote to d, all in float64.
struct ReferenceArguments {
  KernelArguments product;  // a, b and d are read
  const Sample* samples;
  int64 num_samples;
  double* sums;
  double* magnitudes;
  double* results;
};

constexpr int kReferenceThreads = 256;
constexpr int kReferenceLanes = 32;  // that share a sample

TILEWISE_HOST_DEVICE constexpr LaunchInfo reference_launch() {
  LaunchInfo info;
  info.threads = kReferenceThreads;
  info.tile_m = kReferenceThreads / kReferenceLanes;  // samples of a block
  info.tile_n = 1;
  return info;
}

#ifdef __CUDACC__

template <class T>
__device__ inline double to_double(T x) {
  if constexpr (kSame<T, double>) {
    return x;
  } else {
    return to_float(x);
  }
}

template <class T>
__device__ inline double read_element(const MatrixArgument& matrix, int64 batch, int64 row,
                                      int64 column) {
  return to_double(static_cast<const T*>(
      matrix.data)[batch * matrix.batch + row * matrix.row + column * matrix.column]);
}

__device__ inline double warp_sum(double value) {
  for (int step = kReferenceLanes / 2; step > 0; step /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, step);
  }
  return value;
}

template <class Element, class Output>
__device__ void reference(const ReferenceArguments& arguments) {
  const int64 thread = int64{blockIdx.x} * kReferenceThreads + threadIdx.x;
  const int64 i = thread / kReferenceLanes;
  if (i >= arguments.num_samples) return;
  const Sample at = arguments.samples[i];
  const KernelArguments& product = arguments.product;
  double sum = 0, magnitude = 0;
  for (int64 k = thread % kReferenceLanes; k < product.k; k += kReferenceLanes) {
    const double term = read_element<Element>(product.a, at.batch, at.m, k) *
                        read_element<Element>(product.b, at.batch, k, at.n);
    sum += term;
    magnitude += term < 0 ? -term : term;
  }
  sum = warp_sum(sum);
  magnitude = warp_sum(magnitude);
  if (thread % kReferenceLanes != 0) return;
  arguments.sums[i] = sum;
  arguments.magnitudes[i] = magnitude;
  arguments.results[i] = read_element<Output>(product.d, at.batch, at.m, at.n);
}

#endif  // __CUDACC__

struct FillArguments {
  void* data;
  int64 size;  // elements
  unsigned long long seed;
};

constexpr int kFillThreads = 256;
constexpr int kFillElements = 8;  // a thread

TILEWISE_HOST_DEVICE constexpr LaunchInfo fill_launch() {
  LaunchInfo info;
  info.threads = kFillThreads;
  info.tile_m = kFillThreads * kFillElements;
  info.tile_n = 1;
  return info;
}

#ifdef __CUDACC__

// A bijection of 64 bits that leaves no pattern of a counter (Stafford's variant 13 of a mixer).
__device__ inline unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Standard normal values (Box and Muller), a function of seed and position alone.
template <class Element>
__device__ void fill(const FillArguments& arguments) {
  const int64 block = int64{blockIdx.x} * kFillThreads * kFillElements;
#pragma unroll 1
  for (int j = 0; j < kFillElements; ++j) {
    const int64 i = block + j * kFillThreads + threadIdx.x;
    if (i >= arguments.size) return;
    const unsigned long long bits = mix(arguments.seed * 0x9e3779b97f4a7c15ull + i + 1);
    const float u = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;  // (0, 1)
    const float v = static_cast<float>(bits & 0xffffff) * 0x1p-24f;      // [0, 1)
    const float value = sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
    static_cast<Element*>(arguments.data)[i] = from_float<Element>(value);
  }
}

#endif  // __CUDACC__

}  // namespace tilewise
