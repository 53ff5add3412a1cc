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

// sum += *a in every lane times b. AVX-512 broadcasts within the multiply-add: one instruction
// fewer, at the price of one more load.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void multiply_add_broadcast(D d, const T* a, V b, V& sum) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(d) * sizeof(T) == 64) {
    if constexpr (sizeof(T) == 4) {
      asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "m"(*a));
    } else {
      asm("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "m"(*a));
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

  // The sums so far come from the last-level cache: they arrive while the products run.
  if (t.partial != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) __builtin_prefetch(t.partial + i * kNr + j * kLanes);
    }
  }

  const T* a = t.a;
  const T* b = t.b;
  // Unrolled twice: the loop's own instructions count where another thread shares the core.
#pragma GCC unroll 2
  for (std::int64_t k = t.k; k > 0; --k) {
    V row_b[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      row_b[j] = kPacked ? hn::Load(d, b + j * kLanes) : hn::LoadU(d, b + j * kLanes);
      keep_in_register(row_b[j]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const T* const from = a + (kPacked ? i : i * t.a_row_stride);
      // Half of the rows spare an instruction, the other half a load: neither becomes the limit.
      if (kPacked && i % 2 == 1) {
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) multiply_add_broadcast(d, from, row_b[j], sum[i][j]);
        continue;
      }
      V element_a = hn::Set(d, *from);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        sum[i][j] = hn::MulAdd(element_a, row_b[j], sum[i][j]);
      }
    }
    a += kPacked ? kMr : t.a_step;
    b += kPacked ? kNr : t.b_step;
  }

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
