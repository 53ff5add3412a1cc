// Compiled once per target, with that target's flags (src/cpu/CMakeLists.txt):
//   TILEWISE_TARGET_NAME    "avx2"
//   TILEWISE_TARGET_TABLE   kAvx2Kernels
//   TILEWISE_TARGET_TILE    kAvx2Tile
//   TILEWISE_TARGET_HWY     HWY_AVX2, what Highway must have chosen from the flags
//   TILEWISE_TARGET         avx2_kernels, the namespace of what the epilogue's headers compile here
//
// HAZARD: an inline function of a shared header (std::min, say) would be compiled here with this
// target's instructions, and the linker might keep that copy for the whole program. So nothing of
// the standard library but <cstdint> is used here; tests/cpu/target_symbols checks the object
// files.
#define HWY_COMPILE_ONLY_STATIC
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/tile_sizes.h"
#include "epilogue/evaluate.h"
#include "hwy/highway.h"

static_assert(HWY_TARGET == TILEWISE_TARGET_HWY,
              "the flags of this target do not give the instruction set that its name promises");

HWY_BEFORE_NAMESPACE();
#include "cpu/kernels/block-inl.h"
#include "cpu/kernels/elements-inl.h"
#include "cpu/kernels/fma_loop-inl.h"
#include "cpu/kernels/pack-inl.h"
#include "cpu/kernels/register_tile-inl.h"

namespace tilewise::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr int nr() {
  return TILEWISE_TARGET_TILE.vectors * static_cast<int>(HWY_MAX_BYTES / sizeof(T));
}

template <class T>
constexpr Kernels<T> make_kernels() {
  constexpr int kMr = TILEWISE_TARGET_TILE.rows;
  constexpr int kNr = nr<T>();
  Kernels<T> kernels{};
  kernels.mr = kMr;
  kernels.nr = kNr;
  // Indexed by Type: f64, f32, bf16, f16, f8e4m3, f8e5m2.
  if constexpr (sizeof(T) == sizeof(double)) {
    kernels.pack_a[0] = &pack<T, double, kMr>;
    kernels.pack_b[0] = &pack<T, double, kNr>;
  } else {
    kernels.pack_a[2] = &pack<T, Bf16, kMr>;
    kernels.pack_b[2] = &pack<T, Bf16, kNr>;
    kernels.pack_a[3] = &pack<T, F16, kMr>;
    kernels.pack_b[3] = &pack<T, F16, kNr>;
  }
  kernels.pack_a[1] = &pack<T, float, kMr>;
  kernels.pack_b[1] = &pack<T, float, kNr>;
  constexpr int kVectors = TILEWISE_TARGET_TILE.vectors;
  kernels.multiply = &multiply_block<T, kMr, kNr, kVectors, kNr / kVectors, true>;
  kernels.multiply_in_place = &multiply_block<T, kMr, kNr, kVectors, kNr / kVectors, false>;
  kernels.multiply_column = &multiply_block<T, kMr, kNr, 1, 1, false>;
  kernels.evaluate = &tilewise::TILEWISE_TARGET::evaluate_tile<T>;
  kernels.fma_loop = &fma_loop<T>;
  return kernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE

extern const KernelTable TILEWISE_TARGET_TABLE;
constinit const KernelTable TILEWISE_TARGET_TABLE = {
    .target = TILEWISE_TARGET_NAME,
    .f32 = HWY_NAMESPACE::make_kernels<float>(),
    .f64 = HWY_NAMESPACE::make_kernels<double>(),
    .conversions = {.bf16_to_f32 = &HWY_NAMESPACE::widen_bf16,
                    .f16_to_f32 = &HWY_NAMESPACE::widen_f16,
                    .f32_to_bf16 = &HWY_NAMESPACE::narrow_bf16,
                    .f32_to_f16 = &HWY_NAMESPACE::narrow_f16},
};

}  // namespace tilewise::cpu
HWY_AFTER_NAMESPACE();
