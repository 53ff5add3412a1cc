// The peak of the multiply-add units: independent chains in registers, no memory.
#pragma once

namespace tilewise::cpu {
namespace HWY_NAMESPACE {

template <class T>
HWY_NOINLINE double fma_loop(std::int64_t iterations, T* sink) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kChains =
      12;  // above latency x ports of every core this runs on, within 16 registers
  constexpr int kRepeats = 4;
  V sum[kChains];
#pragma GCC unroll 16
  for (int c = 0; c < kChains; ++c) sum[c] = hn::Set(d, static_cast<T>(c));
  // Values stay finite and normal: x = x * 0.5 + 1 tends to 2.
  V factor = hn::Set(d, static_cast<T>(0.5));
  V one = hn::Set(d, static_cast<T>(1));
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < kRepeats; ++r) {
#pragma GCC unroll 16
      for (int c = 0; c < kChains; ++c) sum[c] = hn::MulAdd(sum[c], factor, one);
    }
  }
  V total = sum[0];
  for (int c = 1; c < kChains; ++c) total = hn::Add(total, sum[c]);
  *sink = hn::GetLane(total);
  return 2.0 * kChains * kRepeats * static_cast<double>(hn::Lanes(d)) *
         static_cast<double>(iterations);
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewise::cpu
