// The descriptors by which a kernel copies tiles in bulk (kernels/parts/arguments.cuh, LaunchInfo).
#pragma once

#include "parts/arguments.cuh"
#include "tilewise/problem.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

// Checks what a bulk copy needs of A and B: one unit stride, base and strides on multiples of 16
// bytes, extents of at most 2^31 - 1024. The message names the operand and the way out.
[[nodiscard]] Result<void> check_bulk_strides(const Problem& problem);
[[nodiscard]] Result<void> check_bulk_address(const char* name, const void* data);

// Encodes A and B, and D where it can be stored in bulk. Host work only, about a microsecond.
[[nodiscard]] Result<TensorMaps> encode_tensor_maps(const Problem& problem, const LaunchInfo& info,
                                                    const KernelArguments& arguments);

}  // namespace tilewise::gpu
