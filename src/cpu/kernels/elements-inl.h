// Element types in memory and their conversions to and from accumulators, one and several at a
// time.
#pragma once

namespace tilewise::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct Bf16 {
  std::uint16_t bits;
};
struct F16 {
  std::uint16_t bits;
};

HWY_INLINE float float_from_bits(std::uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
HWY_INLINE std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

HWY_INLINE float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) {  // infinity, or NaN made quiet with its payload kept
    const std::uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
    return float_from_bits(sign | 0x7f800000u | quiet | (magnitude & 0x3ffu) << 13);
  }
  if (magnitude < 0x400u) {  // zero and subnormals: exact in float32
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  return float_from_bits(sign | ((magnitude << 13) + (112u << 23)));
}

HWY_INLINE std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and up round to infinity
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: subnormal; the addition rounds to 2^-24
    half = bits_of(float_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

HWY_INLINE std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>(bits >> 16 | 0x0040u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <class T>
HWY_INLINE T load_element(const float* from) {
  return static_cast<T>(*from);
}
template <class T>
HWY_INLINE T load_element(const double* from) {
  return static_cast<T>(*from);
}
template <class T>
HWY_INLINE T load_element(const Bf16* from) {
  return static_cast<T>(float_from_bits(static_cast<std::uint32_t>(from->bits) << 16));
}
template <class T>
HWY_INLINE T load_element(const F16* from) {
  return static_cast<T>(f16_to_f32(from->bits));
}

// As many adjacent elements as D has lanes, unaligned.
template <class D>
  requires(sizeof(hn::TFromD<D>) == 4)
HWY_INLINE hn::Vec<D> load_vector(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
  requires(sizeof(hn::TFromD<D>) == 8)
HWY_INLINE hn::Vec<D> load_vector(D d, const double* from) {
  return hn::LoadU(d, from);
}
template <class D>
  requires(sizeof(hn::TFromD<D>) == 8)
HWY_INLINE hn::Vec<D> load_vector(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}
template <class D>
  requires(sizeof(hn::TFromD<D>) == 4)
HWY_INLINE hn::Vec<D> load_vector(D d, const Bf16* from) {
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::Rebind<std::uint32_t, D> d32;
  const auto* bits = reinterpret_cast<const std::uint16_t*>(from);
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, bits))));
}
template <class D>
  requires(sizeof(hn::TFromD<D>) == 4)
HWY_INLINE hn::Vec<D> load_vector(D d, const F16* from) {
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f16_to_f32(from[i].bits);
  return hn::Load(d, lanes);
#else
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#endif
}

inline HWY_NOINLINE void widen_bf16(const std::uint16_t* from, float* to, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const auto* source = reinterpret_cast<const Bf16*>(from);
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(load_vector(d, source + i), d, to + i);
  for (; i < n; ++i) to[i] = load_element<float>(source + i);
}

inline HWY_NOINLINE void widen_f16(const std::uint16_t* from, float* to, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const auto* source = reinterpret_cast<const F16*>(from);
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(load_vector(d, source + i), d, to + i);
  for (; i < n; ++i) to[i] = load_element<float>(source + i);
}

inline HWY_NOINLINE void narrow_bf16(const float* from, std::uint16_t* to, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> d32;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(d, from + i);
    const auto bits = hn::BitCast(d32, value);
    const auto high = hn::ShiftRight<16>(bits);
    const auto even = hn::And(high, hn::Set(d32, 1u));
    const auto rounded = hn::ShiftRight<16>(bits + hn::Set(d32, 0x7fffu) + even);
    const auto quiet = hn::Or(high, hn::Set(d32, 0x40u));
    const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
    const hn::RebindToSigned<decltype(d32)> di32;
    // Values below 2^16 fit the saturating narrowing of signed integers exactly.
    const auto result = hn::BitCast(di32, hn::IfThenElse(is_nan, quiet, rounded));
    hn::StoreU(hn::DemoteTo(d16, result), d16, to + i);
  }
  for (; i < n; ++i) to[i] = f32_to_bf16(from[i]);
}

inline HWY_NOINLINE void narrow_f16(const float* from, std::uint16_t* to, std::int64_t n) {
  std::int64_t i = 0;
#if !HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::DemoteTo(d16, hn::LoadU(d, from + i)), d16,
               reinterpret_cast<hwy::float16_t*>(to + i));
  }
#endif
  for (; i < n; ++i) to[i] = f32_to_f16(from[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewise::cpu
