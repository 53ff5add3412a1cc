// Register tiles by target and type: as many accumulators as leave room for a row of B and a
// broadcast element of A. tests/cpu checks that schedules/packed_*.json says the same.
#pragma once

namespace tilewise::cpu {

// vectors: of nr, each one register wide.
struct RegisterTile {
  int rows;
  int vectors;
};

//                                             accumulators + B + A
inline constexpr RegisterTile kSse4Tile{6, 2};     // 12 + 2 + 1 and one product, of 16 registers
inline constexpr RegisterTile kAvx2Tile{6, 2};     // 12 + 2 + 2 of 16
inline constexpr RegisterTile kAvx512Tile{12, 2};  // 24 + 2 + 2 of 32
inline constexpr RegisterTile kNeonTile{8, 3};     // 24 + 3 + 2 of 32

}  // namespace tilewise::cpu
