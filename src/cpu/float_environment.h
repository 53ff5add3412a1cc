// The floating-point mode that products run in: round to nearest, denormals kept, whatever the
// caller or the thread that started a worker has set (a program built with -ffast-math, or
// torch.set_flush_denormal, changes it). Otherwise the bits would depend on the calling thread.
#pragma once

#include <cstdint>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace tilewise::cpu {

#if defined(__SSE__)
inline std::uint64_t float_mode() { return _mm_getcsr(); }
inline void set_float_mode(std::uint64_t mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
// Flush to zero, denormals are zero, rounding control. Exception flags and masks stay.
inline constexpr std::uint64_t kModeBits = 0x8000 | 0x0040 | 0x6000;
#elif defined(__aarch64__)
inline std::uint64_t float_mode() {
  std::uint64_t mode = 0;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void set_float_mode(std::uint64_t mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
// Flush to zero (also of f16), rounding control.
inline constexpr std::uint64_t kModeBits = 1ULL << 24 | 1ULL << 19 | 3ULL << 22;
#else
inline std::uint64_t float_mode() { return 0; }
inline void set_float_mode(std::uint64_t) {}
inline constexpr std::uint64_t kModeBits = 0;
#endif

// Sets the mode where it is another, and restores it at the end of the scope.
class FloatEnvironment {
 public:
  FloatEnvironment() : before_(float_mode()) {
    if ((before_ & kModeBits) != 0) set_float_mode(before_ & ~kModeBits);
  }
  ~FloatEnvironment() {
    if ((before_ & kModeBits) != 0) set_float_mode(before_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace tilewise::cpu
