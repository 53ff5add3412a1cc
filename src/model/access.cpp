#include "tilewise/access.h"

#include <algorithm>
#include <vector>

#include "parts/swizzle.cuh"

namespace tilewise {
namespace {

constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kLineBytes = 128;

// Number of distinct values.
int num_distinct(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<int>(std::unique(values.begin(), values.end()) - values.begin());
}

// Distinct units of `unit` bytes that the active lanes touch.
int num_units(const WarpAccess& access, std::int64_t unit) {
  std::vector<std::int64_t> units;
  for (const std::int64_t offset : access.offsets) {
    if (offset < 0) continue;
    for (std::int64_t u = offset / unit; u <= (offset + access.width_bytes - 1) / unit; ++u) {
      units.push_back(u);
    }
  }
  return num_distinct(units);
}

// Every active lane of [begin, end) has the address of its partner, where that one is active too.
bool paired(const WarpAccess& access, int begin, int end, int distance) {
  for (int lane = begin; lane < end; ++lane) {
    const std::int64_t here = access.offsets[static_cast<std::size_t>(lane)];
    const std::int64_t there = access.offsets[static_cast<std::size_t>(lane ^ distance)];
    if (here >= 0 && there >= 0 && here != there) return false;
  }
  return true;
}

// Wavefronts of the lanes [begin, end) together: the busiest bank's distinct words. 0: none active.
int phase_wavefronts(const WarpAccess& access, int begin, int end) {
  std::vector<std::int64_t> words;
  for (int lane = begin; lane < end; ++lane) {
    const std::int64_t offset = access.offsets[static_cast<std::size_t>(lane)];
    if (offset < 0) continue;
    for (std::int64_t word = offset / kSharedBankBytes;
         word <= (offset + access.width_bytes - 1) / kSharedBankBytes; ++word) {
      words.push_back(word);
    }
  }
  words.resize(static_cast<std::size_t>(num_distinct(words)));
  int busiest = 0;
  std::array<int, kSharedBanks> load{};
  for (const std::int64_t word : words) {
    busiest = std::max(busiest, ++load[static_cast<std::size_t>(word % kSharedBanks)]);
  }
  return busiest;
}

}  // namespace

GlobalAccess global_access(const WarpAccess& access) {
  return {num_units(access, kSectorBytes), num_units(access, kLineBytes), num_units(access, 1)};
}

namespace {

SharedAccess shared_phases(const WarpAccess& access, bool may_pair) {
  const int phases = std::max(1, access.width_bytes / kSharedBankBytes);
  const int lanes = WarpAccess::kLanes / phases;
  SharedAccess result;
  auto run = [&](int begin, int end) {
    const int wavefronts = phase_wavefronts(access, begin, end);
    result.wavefronts += wavefronts;
    result.ideal += wavefronts > 0;
  };
  if (phases == 1) {
    run(0, WarpAccess::kLanes);
  } else {
    for (int begin = 0; begin < WarpAccess::kLanes; begin += 2 * lanes) {
      const int end = begin + 2 * lanes;
      if (may_pair && (paired(access, begin, end, 1) || paired(access, begin, end, 2))) {
        run(begin, end);
      } else {
        run(begin, begin + lanes);
        run(begin + lanes, end);
      }
    }
  }
  result.conflicts = result.wavefronts - result.ideal;
  return result;
}

}  // namespace

SharedAccess shared_access(const WarpAccess& access) { return shared_phases(access, true); }

SharedAccess shared_store(const WarpAccess& access) { return shared_phases(access, false); }

int copy_sectors(const WarpAccess& from, const WarpAccess& to) {
  std::vector<std::int64_t> pairs;
  constexpr std::int64_t kSharedSectors = 1 << 20;  // more than any shared memory has
  for (std::size_t lane = 0; lane < WarpAccess::kLanes; ++lane) {
    if (from.offsets[lane] < 0) continue;
    pairs.push_back(from.offsets[lane] / kLineBytes * kSharedSectors +
                    to.offsets[lane] / kSectorBytes);
  }
  return num_distinct(pairs);
}

namespace {

constexpr std::int64_t kHalfSectorBytes = 16;

int cached_wavefronts(const WarpAccess& from, const WarpAccess& to) {
  const std::int64_t width = to.width_bytes;
  const std::size_t lanes = WarpAccess::kLanes * kSharedBankBytes / to.width_bytes;  // of a phase
  int wavefronts = 0;
  for (std::size_t begin = 0; begin < WarpAccess::kLanes; begin += lanes) {
    std::array<int, kSharedBanks> source{}, destination{};  // the last wavefront of each
    int last = 0;
    for (std::size_t lane = begin; lane < begin + lanes; ++lane) {
      if (to.offsets[lane] < 0) continue;
      int& at = destination[static_cast<std::size_t>(to.offsets[lane] % kLineBytes / width)];
      int unused = 0;
      const std::int64_t global = from.offsets[lane];
      int& read =
          global < 0 ? unused : source[static_cast<std::size_t>(global % kLineBytes / width)];
      at = read = std::max(at, read) + 1;
      last = std::max(last, at);
    }
    wavefronts += last;
  }
  return wavefronts;
}

int bypass_wavefronts(const WarpAccess& from, const WarpAccess& to) {
  struct Piece {
    std::int64_t line, row, half;  // what moves in one wavefront
    std::int64_t sector, place;
    auto operator<=>(const Piece&) const = default;
    [[nodiscard]] bool together(const Piece& other) const {
      return line == other.line && row == other.row && half == other.half;
    }
  };
  std::vector<Piece> pieces;
  for (std::size_t lane = 0; lane < WarpAccess::kLanes; ++lane) {
    const std::int64_t global = from.offsets[lane], shared = to.offsets[lane];
    if (global < 0 || shared < 0) continue;
    bool whole = true;
    for (std::size_t other = 0; other < WarpAccess::kLanes; ++other) {
      if (from.offsets[other] < 0 || from.offsets[other] / kSectorBytes != global / kSectorBytes) {
        continue;
      }
      whole = whole && to.offsets[other] / kSectorBytes == shared / kSectorBytes;
    }
    pieces.push_back({global / kLineBytes, shared / kLineBytes,
                      whole ? 0 : global % kSectorBytes / kHalfSectorBytes, global / kSectorBytes,
                      shared / (whole ? kSectorBytes : kHalfSectorBytes)});
  }
  std::sort(pieces.begin(), pieces.end());
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  int wavefronts = 0, busiest = 0, places = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool same = i > 0 && pieces[i].together(pieces[i - 1]);
    if (!same) {
      wavefronts += busiest;
      busiest = 0;
    }
    places = same && pieces[i].sector == pieces[i - 1].sector ? places + 1 : 1;
    busiest = std::max(busiest, places);
  }
  return wavefronts + busiest;
}

}  // namespace

int copy_wavefronts(CopyForm form, const WarpAccess& from, const WarpAccess& to) {
  switch (form) {
    case CopyForm::cached:
      return cached_wavefronts(from, to);
    case CopyForm::bypass:
      return bypass_wavefronts(from, to);
    case CopyForm::bypass_sized:
      return bypass_wavefronts(from, to) + cached_wavefronts(from, to);
  }
  return 0;
}

std::int64_t tile_sectors(std::int64_t rows, std::int64_t length_bytes, std::int64_t offset_bytes,
                          std::int64_t pitch_bytes) {
  if (rows <= 0 || length_bytes <= 0) return 0;
  // The misalignment of the rows repeats after at most 32 of them.
  auto of_rows = [&](std::int64_t count) {
    std::int64_t sectors = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t begin = (offset_bytes + row * pitch_bytes) % kSectorBytes;
      sectors += (begin + length_bytes + kSectorBytes - 1) / kSectorBytes;
    }
    return sectors;
  };
  return rows / kSectorBytes * of_rows(kSectorBytes) + of_rows(rows % kSectorBytes);
}

}  // namespace tilewise
