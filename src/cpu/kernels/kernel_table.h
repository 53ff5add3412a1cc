// What one instruction set's object file offers. Plain data: this header is compiled with each
// target's flags, so it may hold no inline function that the linker could share between targets.
#pragma once

#include <cstdint>

namespace tilewise {
struct Epilogue;
struct TileContext;
}  // namespace tilewise

namespace tilewise::cpu {

// A block of a matrix to be packed into panels of a fixed width w. Panel p holds the lines
// [p w, p w + w) of the block as (along, w): one step of k after another, zero where the block
// ends. For A a line is a row, for B a column.
struct PackArguments {
  const void* source;          // element (0, 0) of the block
  std::int64_t across_stride;  // elements between neighbouring lines
  std::int64_t along_stride;   // elements between neighbours along k
  std::int64_t across;         // lines in the block
  std::int64_t along;          // length along k
  void* panels;                // ceil(across / w) * along * w accumulators, 64-byte aligned
};

// A block of the product: the accumulators of m x n outputs gain k products each.
// Accumulators between blocks of k lie in `partial`, one register tile (mr, nr) after another, tile
// (i, j) at partial + j * partial_panel + i * mr * nr.
template <class T>
struct BlockArguments {
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;  // panels (k, mr); in place element (0, 0) of the block
  const T* b = nullptr;  // panels (k, nr); in place element (0, 0) of the block
  // In place: elements between rows of A, between its columns and between rows of B,
  // whose columns are adjacent, and the last columns of B, if fewer than nr, as a panel (k, nr).
  std::int64_t a_row_stride = 0, a_step = 0, b_step = 0;
  const T* b_edge = nullptr;
  T* partial = nullptr;  // may be null if first and last
  std::int64_t partial_panel = 0;
  bool first = true;  // partial is not read
  bool last = true;   // the sums go to d or finish instead of partial
  // Either d is set: the sums are stored there, rows d_row_stride apart, columns adjacent. Or
  // finish is called for each strip of register tiles, (rows, columns) at (i, j) with rows nr
  // apart.
  T* d = nullptr;
  std::int64_t d_row_stride = 0;
  void (*finish)(void* context, T* tile, std::int64_t i, std::int64_t j, int rows,
                 int columns) = nullptr;
  void* context = nullptr;
};

// Functions for one accumulator type. pack_*: indexed by the source's Type (types.h); null where
// that type is not supported.
template <class T>
struct Kernels {
  static constexpr int kNumTypes = 6;
  int mr, nr;
  void (*pack_a[kNumTypes])(const PackArguments&);
  void (*pack_b[kNumTypes])(const PackArguments&);
  void (*multiply)(const BlockArguments<T>&);
  void (*multiply_in_place)(const BlockArguments<T>&);  // A and B as they lie, not packed
  void (*multiply_column)(const BlockArguments<T>&);    // likewise, and n is 1: no b_edge
  // Replaces a tile of sums by the epilogue's values (src/epilogue/evaluate.h).
  void (*evaluate)(const Epilogue&, const TileContext&, T*);
  // A register loop of independent multiply-adds; returns its FLOPs. *sink keeps it alive.
  double (*fma_loop)(std::int64_t iterations, T* sink);
};

// 16-bit formats, n adjacent elements; to: rounds to nearest even.
struct Conversions {
  void (*bf16_to_f32)(const std::uint16_t* from, float* to, std::int64_t n);
  void (*f16_to_f32)(const std::uint16_t* from, float* to, std::int64_t n);
  void (*f32_to_bf16)(const float* from, std::uint16_t* to, std::int64_t n);
  void (*f32_to_f16)(const float* from, std::uint16_t* to, std::int64_t n);
};

struct KernelTable {
  const char* target;
  Kernels<float> f32;
  Kernels<double> f64;
  Conversions conversions;
};

}  // namespace tilewise::cpu
