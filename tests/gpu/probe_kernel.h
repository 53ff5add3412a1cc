// A small kernel of the tests' own: what a kernel file must provide, and nothing more.
#pragma once

#include <string>

#include "gpu/kernel_files.h"
#include "tilewise/problem.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

inline constexpr const char* kProbeText = R"(// 98  probe
// Honours   block
#pragma once
#include "parts/arguments.cuh"
#include "parts/element.cuh"
#include "parts/host_device.cuh"
namespace tilewise {
TILEWISE_HOST_DEVICE constexpr LaunchInfo probe_launch(Constants c) {
  LaunchInfo info;
  info.threads = c.block_m * c.block_n;
  info.shared_bytes = 1234 * c.block_k;
  info.tile_m = c.block_m;
  info.tile_n = c.block_n;
  info.tile_k = c.block_k;
  return info;
}
template <Constants c, class Element, class Epilogue>
__device__ void probe(const KernelArguments& g) {
  using Output = typename OutputOf<Element, Epilogue>::Type;
  using Sum = typename AccumulatorOf<Element>::Type;
  const int64 tiles_n = (g.n + c.block_n - 1) / c.block_n;
  const int64 m = blockIdx.x / tiles_n * c.block_m + threadIdx.x / c.block_n;
  const int64 n = blockIdx.x % tiles_n * c.block_n + threadIdx.x % c.block_n;
  const int64 b = blockIdx.z;
  if (m >= g.m || n >= g.n) return;
  const Element* row = static_cast<const Element*>(g.a.data) + b * g.a.batch + m * g.a.row;
  const Element* column = static_cast<const Element*>(g.b.data) + b * g.b.batch + n * g.b.column;
  Sum sum = 0;
  for (int64 k = 0; k < g.k; ++k) {
    sum += static_cast<Sum>(to_float(row[k * g.a.column])) * to_float(column[k * g.b.row]);
  }
  const Sum result = Epilogue::apply(sum, g, b, m, n);
  static_cast<Output*>(g.d.data)[b * g.d.batch + m * g.d.row + n * g.d.column] =
      from_float<Output>(result);
}
}  // namespace tilewise
)";

// kernels/ and the probe.
inline KernelFiles probe_files() {
  KernelFiles files = kernel_files().value();
  files["ladder/98_probe.cuh"] = kProbeText;
  return files;
}

inline Schedule probe_schedule() {
  Schedule schedule;
  schedule.name = schedule.kernel = "probe";
  schedule.tiles = {{.level = Level::block, .m = 8, .n = 32, .k = 2}};
  return schedule;
}

}  // namespace tilewise::gpu
