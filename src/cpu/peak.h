// The measured peak of the multiply-add units.
#pragma once

#include <string_view>

#include "tilewise/result.h"
#include "tilewise/types.h"

namespace tilewise::cpu {

// 10^9 FLOP a second of a register loop (no memory) on `threads` threads at once (as many as there
// are processors for them), the best of a few runs; about 20 ms. type: f32 or f64 (other types
// count as f32, in which they accumulate). target: as in PrepareOptions. 0 where there is no such
// instruction set.
[[nodiscard]] double measure_fma_peak(Type type, int threads, std::string_view target = "");

}  // namespace tilewise::cpu
