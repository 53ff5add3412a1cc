// The innermost loop: an mr x nr tile of sums in registers, k outer products. Included by
// target.cpp once per target.
//
// Contract: a and b are packed panels (k, mr) and (k, nr), 64-byte aligned, padded with zeros; or,
// not packed, A by its strides and rows of B of which kVectors whole vectors may be read. Each
// sum is one chain of multiply-adds in the order of k, starting at zero, then added to the sum of
// the blocks of k before it. So the bits of an output depend on its row of A, its column of B and
// the blocks of k, and on nothing else: not on the tile's shape, on its neighbours or on the
// thread.
#pragma once

namespace tilewise::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct TileArguments {
  std::int64_t k;
  const T* a;
  const T* b;
  const T* partial;  // (mr, nr) to be added, or null
  T* out;
  std::int64_t out_stride;
  int columns;  // of the last column panel that are stored
  // Not packed: elements between rows of A, and from one step of k to the next.
  std::int64_t a_row_stride, a_step, b_step;
};

// Keeps a loaded vector in a register. GCC 12 otherwise repeats the load as a memory operand of
// every multiply-add, and the load ports become the limit.
template <class V>
HWY_INLINE void keep_in_register(V& v) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  asm("" : "+v"(v.raw));
#elif HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86
  asm("" : "+x"(v.raw));
#else
  (void)v;
#endif
}

// sum += a b. AVX-512 is written out: GCC 12 otherwise moves sums between registers, and counts
// instructions as free.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void multiply_add([[maybe_unused]] D d, V a, V b, V& sum) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(d) * sizeof(T) == 64) {
    if constexpr (sizeof(T) == sizeof(float)) {
      asm("vfmadd231ps %1, %2, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    } else {
      asm("vfmadd231pd %1, %2, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    }
    return;
  }
#endif
  sum = hn::MulAdd(a, b, sum);
}

// sum += *a in every lane times b. AVX-512 broadcasts within the multiply-add: one instruction
// fewer, at the price of one more load.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void multiply_add_broadcast(D d, const T* a, V b, V& sum) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(d) * sizeof(T) == 64) {
    if constexpr (sizeof(T) == sizeof(float)) {
      asm("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(sum.raw) : "m"(*a), "v"(b.raw));
    } else {
      asm("vfmadd231pd %1%{1to8%}, %2, %0" : "+v"(sum.raw) : "m"(*a), "v"(b.raw));
    }
    return;
  }
#endif
  sum = hn::MulAdd(hn::Set(d, *a), b, sum);
}

// Stores the first `columns` lanes and touches no byte after them.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void store_columns(D d, V v, int columns, T* to) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(columns)), d, to);
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lanes);
  for (int i = 0; i < columns; ++i) to[i] = lanes[i];
#endif
}

// One outer product: sum (kRows, kVectors vectors) += a (kRows) b (kVectors vectors).
template <class T, int kRows, int kVectors, bool kPacked, class D, class V>
HWY_INLINE void multiply_step(D d, const T* a, std::int64_t a_row_stride, const T* b,
                              V (&sum)[kRows][kVectors]) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  V row_b[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    row_b[j] = kPacked ? hn::Load(d, b + j * kLanes) : hn::LoadU(d, b + j * kLanes);
    keep_in_register(row_b[j]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const T* const element = a + (kPacked ? i : i * a_row_stride);
    // Half of the rows spare an instruction, the other half a load: neither becomes the limit.
    if (kPacked && i % 2 == 1) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) multiply_add_broadcast(d, element, row_b[j], sum[i][j]);
      continue;
    }
    const V element_a = hn::Set(d, *element);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) multiply_add(d, element_a, row_b[j], sum[i][j]);
  }
}

// Steps of k between two rows' prefetches: all are sent out in the blocks of k that are usual
// (kBlockOfK), and none waits for another.
inline constexpr int kStepsPerRow = 16;

// kRows x (kVectors vectors of kLanes) of the mr x nr panels; smaller than the full tile only at
// the edges.
template <class T, int kMr, int kNr, int kRows, int kVectors, int kLanes, bool kPacked>
HWY_NOINLINE void register_tile(const TileArguments<T>& t) {
  const hn::CappedTag<T, static_cast<size_t>(kLanes)> d;
  using V = hn::Vec<decltype(d)>;

  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }

  const T* a = t.a;
  const T* b = t.b;
  const auto next_step = [&]() HWY_ATTR __attribute__((always_inline)) {
    multiply_step<T, kRows, kVectors, kPacked>(d, a, t.a_row_stride, b, sum);
    a += kPacked ? kMr : t.a_step;
    b += kPacked ? kNr : t.b_step;
  };
  std::int64_t left = t.k;
  if constexpr (kPacked) {
    // What the sums are added to and where they go may be far: a row at a time is on its way while
    // the products run. The rows after the last are the next tile's.
    const T* from = t.partial != nullptr ? t.partial : t.out;
    const T* to = t.out;
    for (; left >= kStepsPerRow; left -= kStepsPerRow) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        __builtin_prefetch(from + j * kLanes);
        __builtin_prefetch(to + j * kLanes, 1);
      }
      from += kNr;
      to += t.out_stride;
      for (int k = 0; k < kStepsPerRow; k += 2) {
        next_step();
        next_step();
      }
    }
  }
  for (; left > 0; --left) next_step();

  if (t.partial != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        sum[i][j] = hn::Add(hn::Load(d, t.partial + i * kNr + j * kLanes), sum[i][j]);
      }
    }
  }
  const int last = t.columns - (kVectors - 1) * kLanes;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    T* row = t.out + i * t.out_stride;
#pragma GCC unroll 4
    for (int j = 0; j + 1 < kVectors; ++j) hn::StoreU(sum[i][j], d, row + j * kLanes);
    if (kLanes == 1 || last == kLanes) {
      hn::StoreU(sum[i][kVectors - 1], d, row + (kVectors - 1) * kLanes);
    } else {
      store_columns(d, sum[i][kVectors - 1], last, row + (kVectors - 1) * kLanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewise::cpu
