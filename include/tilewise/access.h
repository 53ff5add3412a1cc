// What one memory instruction of a warp costs, from the addresses of its lanes: sectors of a global
// access, wavefronts of a shared-memory access.
#pragma once

#include <array>
#include <cstdint>

namespace tilewise {

// Byte offsets of the 32 lanes, each width_bytes wide and aligned to it; -1: the lane is inactive.
// Global offsets count from a 128-byte aligned address, shared ones from the start of shared
// memory.
struct WarpAccess {
  static constexpr int kLanes = 32;
  static constexpr std::int64_t kInactive = -1;
  std::array<std::int64_t, kLanes> offsets{};
  int width_bytes = 4;  // 1, 2, 4, 8 or 16
};

// From an address function of the lane: warp_access(4, [](int lane) { return 4 * lane; }).
template <class AddressOfLane>
[[nodiscard]] constexpr WarpAccess warp_access(int width_bytes, AddressOfLane address) {
  WarpAccess access;
  access.width_bytes = width_bytes;
  for (int lane = 0; lane < WarpAccess::kLanes; ++lane) {
    access.offsets[static_cast<std::size_t>(lane)] = address(lane);
  }
  return access;
}

// 32-byte sectors: the distinct ones that the active lanes touch. lines: the distinct 128-byte
// lines. bytes_used: distinct bytes asked for, of 32 * sectors moved.
struct GlobalAccess {
  int sectors = 0;
  int lines = 0;
  int bytes_used = 0;
};
[[nodiscard]] GlobalAccess global_access(const WarpAccess& access);

// Shared memory delivers 32 banks of 4 bytes a wavefront. A warp's access runs in phases: all lanes
// together up to 4 bytes a lane, half warps for 8, quarter warps for 16. Lanes that read the same
// word share it (broadcast). Two neighbouring phases run as one where every lane shares its address
// with the lane beside it (lane ^ 1) or with lane ^ 2. A phase takes as many wavefronts as the
// busiest bank has distinct words.
struct SharedAccess {
  int wavefronts = 0;
  int ideal = 0;      // phases that hold an active lane
  int conflicts = 0;  // wavefronts - ideal
};
[[nodiscard]] SharedAccess shared_access(const WarpAccess& access);
// The same for a store, which no two lanes share: phases always run one after another.
[[nodiscard]] SharedAccess shared_store(const WarpAccess& access);

// Sectors that a 16-byte asynchronous copy past the L1 is counted with: the distinct 32-byte pieces
// of shared memory that it writes, for each 128-byte line of global memory that it reads. More than
// the sectors read where rows of shared memory are padded by 16 bytes. As counted on an H200.
[[nodiscard]] int copy_sectors(const WarpAccess& from, const WarpAccess& to);

// How an asynchronous copy (cp.async) of a warp is issued: .ca (4 or 16 bytes a lane), or .cg (16
// bytes, past the L1) without or with the bytes to read in a register (ZFILL in the machine code).
enum class CopyForm { cached, bypass, bypass_sized };

// Wavefronts of shared memory that a profiler counts such a copy with, by instruction. from: where
// each lane reads in global memory; to: where it writes. As calibrated on an H200
// (bench/results/h200/copy_wavefronts.json):
//
//   cached        in phases as a store. Source and destination both pass through the banks, and no
//                 two lanes share: in the order of lanes, each takes the first wavefront after
//                 those of earlier lanes with its bank of the source line or of shared memory.
//                 Lanes that only write zeros have no source: kInactive in `from`.
//   bypass        each 128-byte line of global memory by itself. A sector whose halves go to one
//                 32-byte piece of shared memory moves whole; any other by halves, the lower ones
//                 before the upper ones. What moves together to one 128-byte row of shared memory
//                 is a wavefront; more where one half goes to several places.
//   bypass_sized  both, one after the other. Lanes that only write zeros count as if they read.
//
// Exact for all that the rungs do, except 16-byte copies that fill zeros in rows of shared memory
// that are no multiple of 128 bytes, which take fewer. Not for contiguous lanes that write 32 bytes
// apart, which take twice what this says.
[[nodiscard]] int copy_wavefronts(CopyForm form, const WarpAccess& from, const WarpAccess& to);

// Sectors of `rows` row segments of `length_bytes`, the first at `offset_bytes`, each `pitch_bytes`
// after the one before: what a tile copied from global memory costs, misalignment included.
[[nodiscard]] std::int64_t tile_sectors(std::int64_t rows, std::int64_t length_bytes,
                                        std::int64_t offset_bytes, std::int64_t pitch_bytes);

}  // namespace tilewise
