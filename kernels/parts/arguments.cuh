// What the host hands to a kernel, and what a kernel tells the host. Shared by device code and host
// code: no header, no device-only construct.
#pragma once

namespace tilewise {

using int64 = long long;
static_assert(sizeof(int64) == 8);

constexpr int kMaxOperands = 8;  // named operands of an epilogue

// A matrix in global memory; strides in elements.
struct MatrixArgument {
  void* data;
  int64 row, column, batch;
};

// The one argument of every kernel. By value, in constant memory (__grid_constant__).
struct KernelArguments {
  int64 m, n, k, batch;
  MatrixArgument a, b, c, d;              // (m, k) (k, n) (m, n) (m, n)
  MatrixArgument operands[kMaxOperands];  // in the order of the epilogue's operands
  void* workspace;                        // laid out as LaunchInfo says; aligned to 256 bytes
  int64 workspace_bytes;
};

// A schedule as a structural type: the template argument of a kernel. Field for field what
// include/tilewise/schedule.h holds; 0 where a level is absent.
struct Constants {
  int cluster_m = 1, cluster_n = 1;
  int block_m = 0, block_n = 0, block_k = 0;
  int warp_m = 0, warp_n = 0, warp_k = 0;
  int thread_m = 0, thread_n = 0, repeat_m = 1, repeat_n = 1;
  int instruction_m = 0, instruction_n = 0, instruction_k = 0;
  int stages = 1;
  int vector_global_bytes = 0, vector_shared_a_bytes = 0, vector_shared_b_bytes = 0;
  int pad_elements = 0;   // shared_layout "pad:N"
  int swizzle_bytes = 0;  // shared_layout "swizzle:N"
  int order = 0;          // 0 row, 1 column, 2 grouped, 3 hilbert, 4 serpentine
  int order_group = 1;
  int order_axis = 0;  // 0 along m, 1 along n
  int split_k = 1;
  bool split_atomic = false;
  bool stream_k = false;
  bool persistent = false;
  bool ping_pong = false;
  bool swap_ab = false;
  int promote_every = 0;  // 0: plain
  // Layout of the operands, from the problem: whether A is contiguous along k, B along k, and
  // whether every row of each starts on a multiple of 16 bytes.
  bool a_k_major = true;
  bool b_k_major = false;
  bool aligned_16 = true;
  int d_bytes = 0;  // of an element of D; 0: as A and B (2 for 8-bit types)
};

// What a kernel file says of one instantiation: read by the host from the module, once. The tile is
// what one block computes; the grid is tiles (x, in launch order), ways of split K (y), batch (z),
// or the number of SMs times blocks_per_sm along x when persistent.
struct LaunchInfo {
  int threads = 0;
  int shared_bytes = 0;  // dynamic
  int tile_m = 0, tile_n = 0, tile_k = 0;
  int blocks_per_sm = 1;  // what the kernel is compiled for
  int cluster_m = 1, cluster_n = 1;
  bool persistent = false;
  // The workspace of a split K or stream-K; all counts are of one batch matrix. First the counters
  // (32 bits each, zeroed by the host in stream order before each launch): counters_per_tile for
  // each output tile, tiles in row-major order inside a matrix. Then, from the next multiple of 256
  // bytes on, float32 tiles of tile_m x tile_n: partials_per_tile for each output tile in the same
  // order, then partials_per_block for each block of the grid. zero_partials: the host zeroes those
  // too.
  int counters_per_tile = 0, partials_per_tile = 0, partials_per_block = 0;
  bool zero_partials = false;
  // Tensor maps, for kernels that copy in bulk: the second argument of such a kernel is TensorMaps
  // (__grid_constant__). Every map has rank 3: the contiguous dimension, the other one, the batch
  // (extent 1 where the batch stride is 0); where k is 0 the maps of A and B are not read. Boxes
  // are inner x outer x 1 elements; swizzle in bytes; fill zeros; L2 promotion 256 bytes. The map
  // of D is encoded where d.column is 1 and base, row and batch stride are multiples of 16 bytes;
  // elsewhere it is not read. The same holds of the map of the epilogue's staged operand, if it has
  // one, whose boxes are those of D. Clusters are launched as (cluster_m * cluster_n, 1, 1), and
  // tiles are rounded up to whole clusters along m and n; the grid along x is a multiple of the
  // cluster.
  bool bulk = false;
  int a_box_inner = 0, a_box_outer = 0, a_swizzle = 0;
  int b_box_inner = 0, b_box_outer = 0, b_swizzle = 0;
  int d_box_inner = 0, d_box_outer = 0, d_swizzle = 0;  // 0: d is not stored in bulk
};

// The driver's 128-byte opaque tensor maps of A, B, D and the epilogue's staged operand.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};
struct TensorMaps {
  TensorMap a, b, d, source;
};

}  // namespace tilewise
