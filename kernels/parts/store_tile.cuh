// From the accumulators of a warpgroup to D: epilogue, rounding, panels of 128 bytes in shared
// memory, then a bulk store, or ordinary stores where D's strides or base do not allow one.
#pragma once

#include "parts/bulk_tile.cuh"
#include "parts/element.cuh"
#include "parts/fragment.cuh"
#include "parts/ptx_mma.cuh"
#include "parts/swizzle.cuh"

namespace tilewise {

constexpr int kPanelRows = 64;
constexpr int kPanelBytes = kPanelRows * kLineBytes;  // (64, 128 bytes), 128-byte swizzle
constexpr int kPanelsInFlight = 2;                    // one is filled while the other is stored

// Whether the host has encoded a map of D (arguments.cuh: LaunchInfo).
__device__ inline bool stores_in_bulk(const MatrixArgument& d, int element_bytes) {
  const int64 bytes = d.row * element_bytes | d.batch * element_bytes |
                      static_cast<int64>(reinterpret_cast<unsigned long long>(d.data));
  return d.column == 1 && bytes % 16 == 0;
}

// One warpgroup's buffers and the matrix that they go to.
template <class Output>
struct PanelStore {
  static constexpr int kColumns = kLineBytes / static_cast<int>(sizeof(Output));

  unsigned char* panels;  // kPanelsInFlight of them
  const KernelArguments& arguments;
  const TensorMap* map;
  bool bulk;
  int thread;   // of the warpgroup
  int barrier;  // a named barrier of its own
  int next = 0;

  __device__ unsigned char* acquire() {
    unsigned char* panel = panels + next * kPanelBytes;
    if (bulk && thread == 0) bulk_wait_group_read<kPanelsInFlight - 1>();
    named_barrier_sync(barrier, kWarpgroupThreads);
    return panel;
  }

  // Sends the panel acquired last to its place in D, (m, n) on.
  __device__ void release(int64 batch, int64 m, int64 n) {
    const unsigned char* panel = panels + next * kPanelBytes;
    // HAZARD: a bulk store clips rows of D at whole 16 bytes, so a ragged end is stored by
    // elements.
    const bool ragged = n + kColumns > arguments.n &&
                        arguments.n * static_cast<int64>(sizeof(Output)) % kSwizzleChunkBytes != 0;
    if (bulk && !ragged) {
      send(batch, m, n, m < arguments.m && n < arguments.n);
      return;
    }
    next = (next + 1) % kPanelsInFlight;
    named_barrier_sync(barrier, kWarpgroupThreads);
    store_elements(panel, batch, m, n);
    if (bulk && thread == 0) bulk_commit_group();  // one group a panel, be it empty: acquire counts
  }

  // The same in bulk, where D allows it and the panel lies inside.
  __device__ void send(int64 batch, int64 m, int64 n, bool inside = true) {
    const unsigned char* panel = panels + next * kPanelBytes;
    next = (next + 1) % kPanelsInFlight;
    fence_proxy_async();
    named_barrier_sync(barrier, kWarpgroupThreads);
    if (thread != 0) return;
    const int map_batch = arguments.d.batch == 0 ? 0 : static_cast<int>(batch);
    if (inside) tma_store(map, panel, static_cast<int>(n), static_cast<int>(m), map_batch);
    bulk_commit_group();
  }

  // Before the block ends, shared memory must have been read.
  __device__ void drain() const {
    if (bulk && thread == 0) bulk_wait_group_read<0>();
  }

  // Before the panels are written in another way than by acquire, too.
  __device__ void settle() const {
    drain();
    named_barrier_sync(barrier, kWarpgroupThreads);
  }

 private:
  __device__ void store_elements(const unsigned char* panel, int64 batch, int64 m, int64 n) const {
    const MatrixArgument& d = arguments.d;
    Output* base = static_cast<Output*>(d.data) + batch * d.batch + m * d.row + n * d.column;
    const bool along_columns = d.column == 1;  // neighbouring threads write neighbouring elements
#pragma unroll 1
    for (int i = thread; i < kPanelRows * kColumns; i += kWarpgroupThreads) {
      const int row = along_columns ? i / kColumns : i % kPanelRows;
      const int column = along_columns ? i % kColumns : i / kPanelRows;
      if (m + row >= arguments.m || n + column >= arguments.n) continue;
      const int at =
          swizzle(kLineBytes, row * kLineBytes + column * static_cast<int>(sizeof(Output)));
      base[row * d.row + column * d.column] = *reinterpret_cast<const Output*>(panel + at);
    }
  }
};

// Two neighbours of a row.
struct alignas(8) FloatPair {
  float x, y;
};

// Byte offset in a panel of 16-bit elements that a lane names to stmatrix and ldmatrix, for 16
// columns. Matrices 0, 1: rows 0 to 7 and 8 to 15 of this warp; 2, 3: the next 8 columns.
__device__ inline int matrix_row(int warp, int lane, int sixteenth) {
  const int row = 16 * warp + lane % 16, chunk = 2 * sixteenth + lane / 16;
  return swizzle(kLineBytes, row * kLineBytes + chunk * kSwizzleChunkBytes);
}

// Columns [at_column, at_column + kColumns) of a panel, from 64 rows of values that lie in
// registers as those columns of an accumulator do. warp, lane: of the warpgroup.
template <class Output, int kColumns>
__device__ inline void fill_columns(unsigned char* panel, const float* value, int at_column,
                                    int warp, int lane) {
  if constexpr (sizeof(Output) == 2) {
#pragma unroll
    for (int j = 0; j < kColumns / 16; ++j) {
      const float* x = value + 8 * j;
      stmatrix_x4(panel + matrix_row(warp, lane, at_column / 16 + j), pack_pair<Output>(x[0], x[1]),
                  pack_pair<Output>(x[2], x[3]), pack_pair<Output>(x[4], x[5]),
                  pack_pair<Output>(x[6], x[7]));
    }
  } else {
    static_assert(sizeof(Output) == 4, "D is stored as bf16, f16 or f32");
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Coordinate at = mma_c(lane, 2 * half);
        const int offset = swizzle(
            kLineBytes, (16 * warp + at.row) * kLineBytes + (at_column + 8 * j + at.column) * 4);
        const float* x = value + 4 * j + 2 * half;
        *reinterpret_cast<FloatPair*>(panel + offset) = FloatPair{x[0], x[1]};
      }
    }
  }
}

// A panel with columns [first_column, first_column + its width) of a (64, N) accumulator.
template <class Output, int kRegisters>
__device__ inline void fill_panel(unsigned char* panel, const float (&acc)[kRegisters],
                                  int first_column, int warp, int lane) {
  fill_columns<Output, PanelStore<Output>::kColumns>(panel, acc + first_column / 2, 0, warp, lane);
}

// Applies the epilogue to columns [first_column, first_column + kColumns) of a (64, N) accumulator
// whose corner is (m, n) of D. Elements outside D are computed at the nearest one inside, so that
// no operand is read out of bounds; they are never stored.
template <class Epilogue, int kColumns, int kRegisters>
__device__ inline void apply_epilogue(float (&acc)[kRegisters], const KernelArguments& arguments,
                                      int64 batch, int64 m, int64 n, int first_column, int thread) {
#pragma unroll
  for (int j = 0; j < kColumns / 2; ++j) {
    const int i = first_column / 2 + j;
    const Coordinate at = wgmma_c(thread, i);
    const int64 row = m + at.row < arguments.m ? m + at.row : arguments.m - 1;
    const int64 column = n + at.column < arguments.n ? n + at.column : arguments.n - 1;
    acc[i] = Epilogue::apply(acc[i], arguments, batch, row, column);
  }
}

// Whether an epilogue is evaluated from shared memory: it says so by kThroughShared, which is worth
// it where it reads operands or calls functions.
template <class Epilogue>
constexpr bool kThroughShared = false;
template <class Epilogue>
  requires(Epilogue::kThroughShared)
constexpr bool kThroughShared<Epilogue> = true;

// Column `lane` of up to 16 rows of float32 sums, each row 128 bytes, from (m, n) of D on.
template <class Epilogue, class Output>
__device__ inline void evaluate_rows(const unsigned char* sums, Output* to,
                                     const KernelArguments& arguments, int64 batch, int64 m,
                                     int64 n, int rows, int lane) {
  constexpr int kBatchRows = 8;
#pragma unroll 1
  for (int row = 0; row < rows; row += kBatchRows) {
    // All reads of a batch come before its first write, which they may not pass.
    float value[kBatchRows];
#pragma unroll
    for (int i = 0; i < kBatchRows; ++i) {
      const int at = swizzle(kLineBytes, (row + i) * kLineBytes + lane * 4);
      const int inside = row + i < rows ? row + i : rows - 1;
      value[i] = Epilogue::apply(*reinterpret_cast<const float*>(sums + at), arguments, batch,
                                 m + inside, n);
    }
#pragma unroll
    for (int i = 0; i < kBatchRows; ++i) {
      if (row + i < rows) *to = from_float<Output>(value[i]);
      to += arguments.d.row;
    }
  }
}

// The float32 accumulator passes through panels of 32 columns, so that a warp evaluates the
// epilogue for 32 neighbours of a row: operands and D are read and written whole sectors at a time.
// A warp's rows of a panel are its own: no barrier.
template <class Output, class Epilogue, int kRegisters>
__device__ inline void store_through_shared(const float (&acc)[kRegisters],
                                            PanelStore<Output>& store, int64 batch, int64 m,
                                            int64 n) {
  constexpr int kColumns = PanelStore<float>::kColumns;
  static_assert(kColumns == kWarpLanes);
  constexpr int kRows = kPanelRows / (kWarpgroupThreads / kWarpLanes);
  const KernelArguments& arguments = store.arguments;
  const MatrixArgument& d = arguments.d;
  const int warp = store.thread / kWarpLanes, lane = store.thread % kWarpLanes;
  m += warp * kRows;
  n += lane;
  const int64 below = arguments.m - m;
  const int rows = below < kRows ? static_cast<int>(below) : kRows;  // 0 or fewer: none
  Output* to = static_cast<Output*>(d.data) + batch * d.batch + m * d.row + n * d.column;
  store.settle();  // the tile before may have been stored in bulk
  // HAZARD: the loop must not be unrolled, or its code outgrows the instruction cache. Registers
  // have no run-time index, hence the choice among all panels.
#pragma unroll 1
  for (int panel_index = 0; panel_index < 2 * kRegisters / kColumns; ++panel_index) {
    unsigned char* panel = store.panels + panel_index % kPanelsInFlight * kPanelBytes;
    __syncwarp();  // what lay here has been read
#pragma unroll
    for (int i = 0; i < 2 * kRegisters / kColumns; ++i) {
      if (i == panel_index) fill_panel<float>(panel, acc, i * kColumns, warp, lane);
    }
    __syncwarp();
    if (n < arguments.n) {
      evaluate_rows<Epilogue>(panel + warp * kRows * kLineBytes, to, arguments, batch, m, n, rows,
                              lane);
    }
    n += kColumns;
    to += kColumns * d.column;
  }
}

// Whether the (rows, columns) tile at (m, n) of D lies inside D, and the epilogue's operands can be
// read two elements at a time. An 8-bit D takes the way through shared memory.
template <class Epilogue>
__device__ inline bool stores_in_pairs(const KernelArguments& arguments, int64 m, int64 n, int rows,
                                       int columns) {
  if constexpr (sizeof(typename Epilogue::Output) == 1) return false;
  return m + rows <= arguments.m && n + columns <= arguments.n && Epilogue::in_pairs(arguments);
}

// The epilogue is evaluated where the accumulators lie, for two neighbours of a row at once and for
// 32 columns a step; the operands of a step are loaded during the one before it.
template <class Output, class Epilogue, int kRegisters>
__device__ inline void store_in_pairs(const float (&acc)[kRegisters], PanelStore<Output>& store,
                                      int64 batch, int64 m, int64 n) {
  constexpr int kColumns = 32;  // a step
  constexpr int kSteps = 2 * kRegisters / kColumns;
  constexpr int kValues = kColumns / 2;  // of one thread
  constexpr int kStepsAPanel = PanelStore<Output>::kColumns / kColumns;
  const int warp = store.thread / kWarpLanes, lane = store.thread % kWarpLanes;
  const Coordinate corner = wgmma_c(store.thread, 0);
  using Pair = typename Epilogue::Pair;
  Pair next[kValues / 2];
  const auto load = [&](int step) {
#pragma unroll
    for (int i = 0; i < kValues / 2; ++i) {
      const Coordinate at = wgmma_c(0, 2 * i);  // from the corner
      next[i] = Epilogue::load_pair(store.arguments, batch, m + corner.row + at.row,
                                    n + corner.column + step * kColumns + at.column);
    }
  };
  load(0);
  unsigned char* panel = nullptr;
  // Registers have no run-time index: a loop chooses among all steps, one instruction each an
  // element. Functions that need only 16 bits are short enough to be unrolled within the
  // instruction cache.
  constexpr int kUnrolled = sizeof(Output) == 2 ? kSteps : 1;
#pragma unroll kUnrolled
  for (int step = 0; step < kSteps; ++step) {
    float value[kValues];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (i != step) continue;
#pragma unroll
      for (int j = 0; j < kValues; ++j) value[j] = acc[i * kValues + j];
    }
    Pair pair[kValues / 2];
#pragma unroll
    for (int i = 0; i < kValues / 2; ++i) pair[i] = next[i];
    load(step + 1 < kSteps ? step + 1 : step);  // no branch: it stays above the arithmetic
#pragma unroll
    for (int i = 0; i < kValues / 2; ++i) {
      Epilogue::apply_pair(value[2 * i], value[2 * i + 1], pair[i]);
    }
    const int part = step % kStepsAPanel;
    if (part == 0) panel = store.acquire();
    fill_columns<Output, kColumns>(panel, value, part * kColumns, warp, lane);
    if (part == kStepsAPanel - 1) store.release(batch, m, n + (step - part) * kColumns);
  }
}

// Whether an epilogue names an operand that may come through shared memory in panels like D's.
template <class Epilogue>
constexpr bool kStaged = false;
template <class Epilogue>
  requires(Epilogue::kStaged)
constexpr bool kStaged<Epilogue> = true;

// What an epilogue reads for this thread's elements of one panel, but for the staged operand.
// kAllAhead: so little that a whole row of panels has room in registers.
template <class Epilogue>
struct PanelOperands {
  static constexpr bool kAllAhead = false;
  __device__ void load(const KernelArguments&, int64, int64, int64, int) {}
};
template <class Epilogue>
  requires(kStaged<Epilogue>)
struct PanelOperands<Epilogue> {
  static constexpr bool kAllAhead = Epilogue::kRestOfRowFits;
  static constexpr int kColumns = kLineBytes / 2;
  static constexpr int kPairs = kColumns / 4;
  typename Epilogue::Pair pair[kPairs];

  // For the panel at (m, n) of D.
  __device__ void load(const KernelArguments& arguments, int64 batch, int64 m, int64 n,
                       int thread) {
    const Coordinate corner = wgmma_c(thread, 0);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const Coordinate at = wgmma_c(0, 2 * i);  // from the corner
      pair[i] = Epilogue::load_rest(arguments, batch, m + corner.row + at.row,
                                    n + corner.column + at.column);
    }
  }
};

// This warp's rows of a panel of the staged operand, to where the accumulators lie: element pair
// 4 j + i of this thread is staged[j][i].
constexpr int kPanelGroups = kLineBytes / 32;  // of 16 columns
__device__ inline void load_staged(unsigned (&staged)[kPanelGroups][4], const unsigned char* source,
                                   int warp, int lane) {
#pragma unroll
  for (int j = 0; j < kPanelGroups; ++j) {
    ldmatrix_x4(staged[j], shared_address(source + matrix_row(warp, lane, j)));
  }
}

// The epilogue of one panel, from sums that lie in registers into the panel.
template <class Output, class Epilogue>
__device__ inline void fill_staged(unsigned char* panel, const float* sum,
                                   const unsigned (&staged)[kPanelGroups][4],
                                   PanelOperands<Epilogue> operands, int warp, int lane) {
#pragma unroll
  for (int j = 0; j < kPanelGroups; ++j) {
    unsigned packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      auto& pair = operands.pair[4 * j + i];
      float x = sum[2 * (4 * j + i)], y = sum[2 * (4 * j + i) + 1];
      Epilogue::set_staged(pair, staged[j][i]);
      Epilogue::apply_pair(x, y, pair);
      packed[i] = pack_pair<Output>(x, y);
    }
    stmatrix_x4(panel + matrix_row(warp, lane, j), packed[0], packed[1], packed[2], packed[3]);
  }
}

// Columns [first_column, first_column + a panel's width) of a (64, N) accumulator with its corner
// at (m, n), through the epilogue into D.
template <class Output, class Epilogue, int kRegisters>
__device__ inline void store_panel(float (&acc)[kRegisters], PanelStore<Output>& store, int64 batch,
                                   int64 m, int64 n, int first_column) {
  apply_epilogue<Epilogue, PanelStore<Output>::kColumns>(acc, store.arguments, batch, m, n,
                                                         first_column, store.thread);
  unsigned char* panel = store.acquire();
  fill_panel<Output>(panel, acc, first_column, store.thread / kWarpLanes,
                     store.thread % kWarpLanes);
  store.release(batch, m, n + first_column);
}

// A (64, N) accumulator with its corner at (m, n), through the epilogue into D.
template <class Output, class Epilogue, int kRegisters>
__device__ inline void store_accumulator(float (&acc)[kRegisters], PanelStore<Output>& store,
                                         int64 batch, int64 m, int64 n) {
  constexpr int kColumns = PanelStore<Output>::kColumns;
  static_assert(2 * kRegisters % kColumns == 0, "block.n must be a multiple of a 128-byte panel");
  if constexpr (kThroughShared<Epilogue>) {
    if constexpr (sizeof(Output) > 1) {
      if (stores_in_pairs<Epilogue>(store.arguments, m, n, kPanelRows, 2 * kRegisters)) {
        store_in_pairs<Output, Epilogue>(acc, store, batch, m, n);
        return;
      }
    }
    store_through_shared<Output, Epilogue>(acc, store, batch, m, n);
  } else {
#pragma unroll
    for (int first = 0; first < 2 * kRegisters; first += kColumns) {
      store_panel<Output, Epilogue>(acc, store, batch, m, n, first);
    }
  }
}

}  // namespace tilewise
