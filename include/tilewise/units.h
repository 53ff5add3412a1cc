// What the kernels of the GPU ladder issue and what that costs in units, exactly: counted from the
// address functions that the kernels themselves use (kernels/parts/layout.cuh, operand_layout.cuh).
#pragma once

#include "tilewise/problem.h"
#include "tilewise/result.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"

namespace tilewise {

// Rows of a launch, in the order of the table; a row is absent where a kernel has no such access.
//
//   level      operand  direction  quantity  unit
//   thread     d        write      issued    ffma        fused multiply-adds of threads, padding
//                                                        included
//   warp       d        write      issued    hmma        tensor-core instructions of warps; a wmma
//                                                        m16n16k16 of 16-bit elements is two
//   warpgroup  d        write      issued    gmma        wgmma, once for each of its 4 warps
//   global     a, b     read       units     sectors     32-byte sectors that each load or
//                                                        asynchronous copy of a warp touches
//   shared     a, b     write      units     wavefronts  of the stores and asynchronous copies
//   shared     a, b     read       units     wavefronts  of the reads for the multiplications
//   shared     d        both       units     wavefronts  of D on its way out (kernel wmma)
//   block      a, b     read       units     bulk-copy bytes, what they write to shared memory,
//                                            zeros included
//
// Bases are multiples of 128 bytes. Wavefronts are those that a profiler counts by instruction.
// Reads that the compiler may merge (shared_a 16 with scalar reads) have no row. Nor have the
// writes of 16-byte asynchronous copies that fill padded rows with zeros, for which no rule is
// known: not_counted says so. Operands that wgmma reads do not pass through wavefronts. Errors: a
// CPU schedule; a K split over blocks, whose workspace is not counted; a batch stride that is no
// multiple of 32 bytes (128 where copies are asynchronous); a kernel that is no rung; a rung
// without the tiles of its loops. Cost: independent of the sizes, under 100 ms.
[[nodiscard]] Result<Traffic> count_units(const Problem& problem, const Schedule& schedule);

}  // namespace tilewise
