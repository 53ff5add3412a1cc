// What one block costs in units: wavefronts of shared memory, sectors and lines of global memory.
#pragma once

#include <cstdint>

#include "tilewise/count.h"
#include "tilewise/estimate.h"

namespace tilewise {

// Wavefronts that all warps of a block take for one step of k, reads of both operands. Float lanes:
// from the lanes' addresses (rows of threads over the block's tile, or over warp tiles as
// kernels/parts/layout.cuh lays them out; A by rows of k where a thread has several columns).
// Tensor cores: operand bytes over 128, since ldmatrix and wgmma under a swizzle have no conflict.
[[nodiscard]] double shared_wavefronts_per_k(const Problem& problem, const Schedule& schedule,
                                             const Footprint& footprint);

// 128-byte lines that requests touch in one step of k, where a kernel multiplies straight from
// global memory: each is a cycle of the L1. A warp of one thread an output; a block of mma.sync (0
// where it copies to shared memory first).
[[nodiscard]] double direct_lines_per_warp(const Schedule& schedule);
[[nodiscard]] double direct_lines_per_k(const Problem& problem, const Schedule& schedule,
                                        const Footprint& footprint);

// 32-byte sectors that all blocks ask for when they copy their tiles of A (or B), row segments of
// the operand as it lies in memory, misalignment and ragged ends included. Base aligned to 32
// bytes.
[[nodiscard]] Count sectors_a(const Problem& problem, const Footprint& footprint);
[[nodiscard]] Count sectors_b(const Problem& problem, const Footprint& footprint);

}  // namespace tilewise
