// What happens to the sums: the epilogue on register tiles still in cache, then D in its own type.
#pragma once

#include <cstdint>

#include "cpu/kernels/kernel_table.h"
#include "tilewise/problem.h"

namespace tilewise::cpu {

// Whether the kernel may store its sums to D itself: no epilogue, D's rows adjacent, D in the
// accumulator's type.
[[nodiscard]] bool is_plain_output(const Problem& problem, Type accumulator);

// One task's view of the output, the context of BlockArguments::finish.
struct Output {
  const Problem* problem = nullptr;
  const KernelTable* kernels = nullptr;
  const void* c = nullptr;
  void* d = nullptr;  // element (0, 0) of batch 0
  const void* const* operands = nullptr;
  std::int64_t b = 0;           // batch
  std::int64_t m0 = 0, n0 = 0;  // of the block
  int row_stride = 0;           // of the tiles: nr
};

// Strip (rows, columns) at (i, j) of the block; its values are replaced. T: float or double.
template <class T>
void finish_tile(void* output, T* tile, std::int64_t i, std::int64_t j, int rows, int columns);

// Address of element (m, n) of batch b.
[[nodiscard]] inline std::int64_t offset_of(const Strides& s, std::int64_t b, std::int64_t m,
                                            std::int64_t n) {
  return b * s.batch + m * s.row + n * s.column;
}

}  // namespace tilewise::cpu
