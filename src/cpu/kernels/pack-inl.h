// Packing: copies a block of A or B into panels that the register tile reads front to back,
// converted to the accumulator's type. Strides, transposes and cache-set conflicts of the caller's
// matrices end here. Nothing outside the block is read.
#pragma once

#include "cpu/kernels/elements-inl.h"

namespace tilewise::cpu {
namespace HWY_NAMESPACE {

// One line across the panel is adjacent in memory: each step of k is a copy of kWidth elements.
template <class T, class S, int kWidth>
HWY_INLINE void pack_adjacent(const S* source, std::int64_t along_stride, std::int64_t along,
                              T* panel) {
  constexpr int kLanes = static_cast<int>(HWY_MAX_BYTES / sizeof(T));
  constexpr int kSmallLanes = static_cast<int>(16 / sizeof(T));
  for (std::int64_t k = 0; k < along; ++k) {
    int i = 0;
    if constexpr (kWidth % kLanes == 0) {
      const hn::ScalableTag<T> d;
#pragma GCC unroll 4
      for (; i < kWidth; i += kLanes) hn::Store(load_vector(d, source + i), d, panel + i);
    } else {
      const hn::CappedTag<T, kSmallLanes> d;
#pragma GCC unroll 4
      for (; i + kSmallLanes <= kWidth; i += kSmallLanes) {
        hn::StoreU(load_vector(d, source + i), d, panel + i);
      }
    }
#pragma GCC unroll 4
    for (; i < kWidth; ++i) panel[i] = load_element<T>(source + i);
    source += along_stride;
    panel += kWidth;
  }
}

// 128-bit blocks: 4 x 4 of float, 2 x 2 of double, from lines that are adjacent along k.
template <int kWidth, class S>
HWY_INLINE void transpose_block(const S* source, std::int64_t across_stride, float* panel) {
  const hn::CappedTag<float, 4> d;
  const hn::CappedTag<double, 2> d64;
  const auto r0 = load_vector(d, source);
  const auto r1 = load_vector(d, source + across_stride);
  const auto r2 = load_vector(d, source + 2 * across_stride);
  const auto r3 = load_vector(d, source + 3 * across_stride);
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, panel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, panel + kWidth);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, panel + 2 * kWidth);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, panel + 3 * kWidth);
}
template <int kWidth, class S>
HWY_INLINE void transpose_block(const S* source, std::int64_t across_stride, double* panel) {
  const hn::CappedTag<double, 2> d;
  const auto r0 = load_vector(d, source);
  const auto r1 = load_vector(d, source + across_stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, panel);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, panel + kWidth);
}

// Lines are adjacent along k: blocks are transposed in registers.
template <class T, class S, int kWidth>
HWY_INLINE void pack_transposed(const S* source, std::int64_t across_stride, std::int64_t along,
                                T* panel) {
  constexpr int kBlock = static_cast<int>(16 / sizeof(T));
  std::int64_t k = 0;
  for (; k + kBlock <= along; k += kBlock) {
    int i = 0;
    for (; i + kBlock <= kWidth; i += kBlock) {
      transpose_block<kWidth>(source + i * across_stride + k, across_stride,
                              panel + k * kWidth + i);
    }
    for (; i < kWidth; ++i) {
      for (int kk = 0; kk < kBlock; ++kk) {
        panel[(k + kk) * kWidth + i] = load_element<T>(source + i * across_stride + k + kk);
      }
    }
  }
  for (; k < along; ++k) {
    for (int i = 0; i < kWidth; ++i) {
      panel[k * kWidth + i] = load_element<T>(source + i * across_stride + k);
    }
  }
}

// Any strides, and the last panel, which may be narrower: missing lines are zeros.
template <class T, class S, int kWidth>
HWY_INLINE void pack_strided(const S* source, std::int64_t across_stride, std::int64_t along_stride,
                             int width, std::int64_t along, T* panel) {
  for (std::int64_t k = 0; k < along; ++k) {
    for (int i = 0; i < width; ++i) {
      panel[i] = load_element<T>(source + i * across_stride + k * along_stride);
    }
    for (int i = width; i < kWidth; ++i) panel[i] = T{0};
    panel += kWidth;
  }
}

// Steps of k that are packed for all panels before the next ones, where neighbours in memory lie
// across the panel: so many rows are read side by side, and a page serves several panels.
inline constexpr std::int64_t kAdjacentSteps = 16;

template <class T, class S, int kWidth>
HWY_NOINLINE void pack(const PackArguments& block) {
  const S* source = static_cast<const S*>(block.source);
  T* panel = static_cast<T*>(block.panels);
  const std::int64_t whole = block.across / kWidth;
  if (block.across_stride == 1) {
    for (std::int64_t k = 0; k < block.along; k += kAdjacentSteps) {
      const std::int64_t left = block.along - k;
      const std::int64_t steps = left < kAdjacentSteps ? left : kAdjacentSteps;
      for (std::int64_t p = 0; p < whole; ++p) {
        pack_adjacent<T, S, kWidth>(source + k * block.along_stride + p * kWidth,
                                    block.along_stride, steps,
                                    panel + (p * block.along + k) * kWidth);
      }
    }
  } else {
    for (std::int64_t p = 0; p < whole; ++p) {
      const S* const lines = source + p * kWidth * block.across_stride;
      T* const to = panel + p * kWidth * block.along;
      if (block.along_stride == 1) {
        pack_transposed<T, S, kWidth>(lines, block.across_stride, block.along, to);
      } else {
        pack_strided<T, S, kWidth>(lines, block.across_stride, block.along_stride, kWidth,
                                   block.along, to);
      }
    }
  }
  if (whole * kWidth < block.across) {
    pack_strided<T, S, kWidth>(source + whole * kWidth * block.across_stride, block.across_stride,
                               block.along_stride, static_cast<int>(block.across - whole * kWidth),
                               block.along, panel + whole * kWidth * block.along);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewise::cpu
