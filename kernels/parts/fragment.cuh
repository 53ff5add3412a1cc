// Which thread holds which element of a tensor-core operand. Plain constexpr functions, shared by
// the kernels, the model and the host tests. Source: the PTX ISA, "matrix fragments" of mma.sync
// and the register layouts of wgmma.
//
// Both families are one formula. A lane is (group, member) = (lane / 4, lane % 4), and a 32-bit
// register packs p elements that are neighbours along k: p = 1 for tf32, 2 for 16-bit, 4 for 8-bit
// types (f64 counts as p = 1 with 64-bit registers). One operand register spans 4 p elements of k
// over the 4 members of a group:
//
//     A (16, 8p): 4p elements a lane. word w: row group + 8 (w % 2), k = 4p (w / 2) + p member + i
//     % p B (8p, 8):  2p elements a lane. word w: k = 4p w + p member + i % p, column group C (16,
//     8):  4 elements a lane.          row group + 8 (i / 2), column 2 member + i % 2
//
// m16n8k16 bf16 is p = 2, m16n8k8 tf32 p = 1, m16n8k32 f8 p = 4.
#pragma once

#include "parts/host_device.cuh"

namespace tilewise {

constexpr int kWarpLanes = 32;
constexpr int kWarpgroupThreads = 128;

struct Coordinate {
  int row = 0;
  int column = 0;
  constexpr bool operator==(const Coordinate&) const = default;
};

// Where an element lives: the thread (a lane of the warp, or a thread of the warpgroup) and its
// place in that thread's registers, counted in elements.
struct Holder {
  int thread = 0;
  int element = 0;
  constexpr bool operator==(const Holder&) const = default;
};

// ---- mma.sync m16n8k(8p)

// Elements that a lane holds of each operand.
TILEWISE_HOST_DEVICE constexpr int mma_elements_a(int p) { return 4 * p; }
TILEWISE_HOST_DEVICE constexpr int mma_elements_b(int p) { return 2 * p; }
constexpr int kMmaElementsC = 4;

// A is (16, 8p): row along m, column along k. i in [0, 4p).
TILEWISE_HOST_DEVICE constexpr Coordinate mma_a(int lane, int i, int p) {
  const int word = i / p;
  return {lane / 4 + 8 * (word % 2), 4 * p * (word / 2) + p * (lane % 4) + i % p};
}
TILEWISE_HOST_DEVICE constexpr Holder mma_a_holder(int row, int column, int p) {
  const int word = row / 8 + 2 * (column / (4 * p));
  return {4 * (row % 8) + column % (4 * p) / p, word * p + column % p};
}

// B is (8p, 8): row along k, column along n. i in [0, 2p).
TILEWISE_HOST_DEVICE constexpr Coordinate mma_b(int lane, int i, int p) {
  return {4 * p * (i / p) + p * (lane % 4) + i % p, lane / 4};
}
TILEWISE_HOST_DEVICE constexpr Holder mma_b_holder(int row, int column, int p) {
  return {4 * column + row % (4 * p) / p, row / (4 * p) * p + row % p};
}

// The float32 accumulator is (16, 8). i in [0, 4).
TILEWISE_HOST_DEVICE constexpr Coordinate mma_c(int lane, int i) {
  return {lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2};
}
TILEWISE_HOST_DEVICE constexpr Holder mma_c_holder(int row, int column) {
  return {4 * (row % 8) + column / 2, 2 * (row / 8) + column % 2};
}

// ---- wgmma m64nNk(8p), 128 threads: each warp owns 16 rows

// The float32 accumulator is (64, N). i in [0, N / 2), 2 neighbours of n a pair of registers.
TILEWISE_HOST_DEVICE constexpr Coordinate wgmma_c(int thread, int i) {
  const Coordinate at = mma_c(thread % kWarpLanes, i % 4);
  return {16 * (thread / kWarpLanes) + at.row, 8 * (i / 4) + at.column};
}
TILEWISE_HOST_DEVICE constexpr Holder wgmma_c_holder(int row, int column) {
  const Holder at = mma_c_holder(row % 16, column % 8);
  return {kWarpLanes * (row / 16) + at.thread, 4 * (column / 8) + at.element};
}

// A from registers is (64, 8p). i in [0, 4p).
TILEWISE_HOST_DEVICE constexpr Coordinate wgmma_a(int thread, int i, int p) {
  const Coordinate at = mma_a(thread % kWarpLanes, i, p);
  return {16 * (thread / kWarpLanes) + at.row, at.column};
}
TILEWISE_HOST_DEVICE constexpr Holder wgmma_a_holder(int row, int column, int p) {
  const Holder at = mma_a_holder(row % 16, column, p);
  return {kWarpLanes * (row / 16) + at.thread, at.element};
}

// ---- ldmatrix: which 16-byte row each lane points at, for 16-bit elements

// x4, A tile (16, 16) stored k-contiguous: registers arrive in the order of mma_a.
TILEWISE_HOST_DEVICE constexpr Coordinate ldmatrix_a(int lane) {
  return {lane % 16, 8 * (lane / 16)};
}
// x4, two neighbouring B tiles (16, 16) as (k, n) from n-contiguous storage, with .trans: registers
// 0, 1 are columns 0 to 7 and registers 2, 3 columns 8 to 15, each in the order of mma_b.
TILEWISE_HOST_DEVICE constexpr Coordinate ldmatrix_b_trans(int lane) {
  return {lane % 16, 8 * (lane / 16)};
}
// The same two B tiles from k-contiguous storage (each row of storage is one n), without .trans.
// Result is (k, n) of the first element.
TILEWISE_HOST_DEVICE constexpr Coordinate ldmatrix_b(int lane) {
  return {8 * (lane / 8 % 2), lane % 8 + 8 * (lane / 16)};
}

}  // namespace tilewise
