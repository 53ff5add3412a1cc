// The small source that is compiled for one (problem, schedule): it includes the kernel's file,
// names the schedule as a constant, and defines `tilewise_kernel` and `tilewise_launch`
// (kernels/README.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernel_files.h"
#include "parts/arguments.cuh"
#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

// The schedule and the problem's layout as a kernel's template argument. aligned_16: whether the
// base addresses are multiples of 16 bytes (the strides are looked at here).
[[nodiscard]] Constants make_constants(const Problem& problem, const Schedule& schedule,
                                       bool aligned_16 = true);

// Whether the strides of A, B and D keep every row (and every matrix of a batch) on a multiple of
// 16 bytes, given aligned bases.
[[nodiscard]] bool has_aligned_strides(const Problem& problem);

// {.block_m = 128, ...}: the fields that differ from their defaults.
[[nodiscard]] std::string print_constants(const Constants& constants);

[[nodiscard]] std::string_view device_type(Type type);  // "float", "bf16", "f8e4m3", ...

struct TranslationUnit {
  NamedText source;
  std::vector<NamedText> headers;
};

// Errors: no such kernel, an include that does not exist, operands whose types differ.
[[nodiscard]] Result<TranslationUnit> write_translation_unit(const KernelFiles& files,
                                                             const Problem& problem,
                                                             const Schedule& schedule,
                                                             const Constants& constants);

}  // namespace tilewise::gpu
