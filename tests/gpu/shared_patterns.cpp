#include "gpu/shared_patterns.h"

#include <functional>

#include "gpu/kernel_files.h"
#include "io/embedded.h"
#include "parts/layout.cuh"
#include "parts/swizzle.cuh"

namespace tilewise {
extern const EmbeddedFile kTestKernels[];
extern const std::size_t kTestKernels_size;
}  // namespace tilewise

namespace tilewise::gpu {
namespace {

using LaneOffset = std::function<std::int64_t(int)>;

struct Named {
  const char* name;
  LaneOffset offset;  // in units of the access's width
};

// Ways in which lanes share addresses or meet in banks.
std::vector<Named> common() {
  return {{"neighbours", [](int lane) { return lane; }},
          {"one address", [](int) { return 0; }},
          {"lanes i, i^1 alike", [](int lane) { return lane / 2; }},
          {"lanes i, i^2 alike", [](int lane) { return lane % 2 + lane / 4 * 2; }},
          {"lanes i, i^4 alike", [](int lane) { return lane % 4 + lane / 8 * 4; }},
          {"stride 2", [](int lane) { return 2 * lane; }},
          {"stride 3", [](int lane) { return 3 * lane; }},
          {"lanes i, i^16 alike", [](int lane) { return lane % 16; }}};
}

// More for the accesses that run in phases.
std::vector<Named> phased() {
  std::vector<Named> all = common();
  all.push_back({"lanes i, i^8 alike", [](int lane) { return lane % 8 + lane / 16 * 8; }});
  all.push_back({"reversed", [](int lane) { return 31 - lane; }});
  all.push_back({"pairs, far apart", [](int lane) { return lane / 2 * 8; }});
  all.push_back({"i^1 alike but one pair",
                 [](int lane) { return lane == 31 ? std::int64_t{40} : std::int64_t{lane / 2}; }});
  return all;
}

std::vector<Named> wide() {
  std::vector<Named> all = phased();
  // The reads of rungs 09 and 10: lanes over a warp tile of 64 x 32 in thread tiles of 8 x 8, and
  // of 32 x 64.
  all.push_back({"A of 8 x 4 lanes", [](int lane) { return lane_position(lane, 8, 4).m; }});
  all.push_back({"B of 8 x 4 lanes", [](int lane) { return lane_position(lane, 8, 4).n; }});
  all.push_back({"A of 4 x 8 lanes", [](int lane) { return lane_position(lane, 4, 8).m; }});
  all.push_back({"B of 4 x 8 lanes", [](int lane) { return lane_position(lane, 4, 8).n; }});
  // Rungs 06 to 08: 16 lanes along n, 2 along m.
  all.push_back({"A of 2 x 16 lanes", [](int lane) { return lane / 16 * 2; }});
  all.push_back({"B of 2 x 16 lanes, stride 2", [](int lane) { return lane % 16 * 2; }});
  all.push_back({"B of 2 x 16 lanes", [](int lane) { return lane % 16; }});
  all.push_back({"8 addresses, eights", [](int lane) { return lane % 8; }});
  all.push_back({"4 addresses, fours", [](int lane) { return lane % 4; }});
  all.push_back({"2 addresses, alternating", [](int lane) { return lane % 2; }});
  all.push_back({"2 addresses, halves", [](int lane) { return lane / 16; }});
  all.push_back({"i^3 alike", [](int lane) {
                   return std::int64_t{lane / 4 * 2 + ((lane & 1) ^ (lane >> 1 & 1))};
                 }});
  return all;
}

std::vector<Named> first(std::vector<Named> all, std::size_t count) {
  all.resize(count);
  return all;
}

void add(std::vector<SharedPattern>& patterns, const std::string& instruction, int width,
         const std::vector<Named>& named) {
  for (const Named& each : named) {
    SharedPattern pattern;
    pattern.instruction = instruction;
    pattern.name = each.name;
    pattern.access = warp_access(width, [&](int lane) { return width * each.offset(lane); });
    const bool is_store = instruction.starts_with("ST");
    pattern.wavefronts =
        instruction == "LDGSTS"
            // Every lane reads 16 bytes further on. Where the compiler knows that a lane copies 16
            // bytes or none, a predicate says which, and .cg counts like .ca.
            ? copy_wavefronts(CopyForm::cached,
                              warp_access(width, [](int lane) { return 16 * lane; }),
                              pattern.access)
            : (is_store ? shared_store(pattern.access) : shared_access(pattern.access)).wavefronts;
    patterns.push_back(std::move(pattern));
  }
}

// 16-byte copies past the L1, with a source of their own: rows of `per` lanes.
void add_copies(std::vector<SharedPattern>& patterns, CopyForm form) {
  const auto rows = [](int per, int pitch, int first = 0) {
    return warp_access(
        16, [=](int lane) { return std::int64_t{first + lane / per * pitch + lane % per * 16}; });
  };
  const WarpAccess swizzled = warp_access(
      16, [](int lane) { return std::int64_t{swizzle(128, lane / 8 * 128 + lane % 8 * 16)}; });
  struct Copy {
    const char* name;
    WarpAccess from, to;
    std::function<bool(int)> zero;  // only with a size
  };
  const std::function<bool(int)> none, all = [](int) { return true; },
                                       all_but_two = [](int lane) { return lane > 1; };
  std::vector<Copy> copies = {{"neighbours", rows(32, 0), rows(32, 0), none},
                              {"from 16 bytes on", rows(32, 0, 16), rows(32, 0), none},
                              {"from 64 bytes on", rows(32, 0, 64), rows(32, 0), none},
                              {"4 rows, pitch 528, swizzled", rows(8, 528), swizzled, none},
                              {"4 rows, pitch 544, swizzled", rows(8, 544), swizzled, none},
                              {"8 rows", rows(4, 512), rows(32, 0), none},
                              {"2 rows to padded rows", rows(16, 1536), rows(16, 528), none},
                              {"row 3 of rung 08", rows(32, 0, 96), rows(32, 0, 48), none}};
  if (form == CopyForm::bypass_sized) {
    // Zeros at the edge of N: in a row on a multiple of 128 bytes, and in padded ones.
    copies.push_back({"all but 2 lanes zeros, row 0", rows(32, 0), rows(32, 0), all_but_two});
    copies.push_back({"all but 2, row 3", rows(32, 0, 96), rows(32, 0, 48), all_but_two});
    copies.push_back({"all zeros, row 1", rows(32, 0, 32), rows(32, 0, 16), all});
    copies.push_back({"all zeros, row 4", rows(32, 0), rows(32, 0, 64), all});
  }
  for (const Copy& copy : copies) {
    SharedPattern pattern;
    pattern.instruction = "LDGSTS";
    pattern.name = copy.name;
    pattern.access = copy.to;
    pattern.from = copy.from;
    pattern.known = !copy.zero || copy.to.offsets[0] % kSwizzleLineBytes == 0;
    pattern.wavefronts = copy_wavefronts(form, copy.from, copy.to);
    for (int lane = 0; copy.zero && lane < WarpAccess::kLanes; ++lane) {
      pattern.zero_filled.push_back(copy.zero(lane));
    }
    patterns.push_back(std::move(pattern));
  }
}

}  // namespace

std::vector<SharedPattern> shared_patterns() {
  std::vector<SharedPattern> patterns;
  add(patterns, "STS", 4, first(common(), 6));
  add(patterns, "STS.128", 16, common());
  add(patterns, "LDGSTS", 4,
      {{"neighbours", [](int lane) { return lane; }},
       {"stride 2", [](int lane) { return 2 * lane; }},
       {"stride 33", [](int lane) { return 33 * lane; }},
       {"stride 132 by eights", [](int lane) { return lane % 8 * 132 + lane / 8; }}});
  const std::size_t first_copy = patterns.size();
  add(patterns, "LDGSTS", 16,
      {{"neighbours", [](int lane) { return lane; }},
       {"swizzled lines",
        [](int lane) { return swizzle(128, lane / 8 * 128 + lane % 8 * 16) / 16; }},
       {"stride 2", [](int lane) { return 2 * lane; }},
       {"columns of 128 bytes", [](int lane) { return 8 * lane; }},
       {"neighbours, upper half zeros", [](int lane) { return lane; }},
       {"neighbours, odd lanes zeros", [](int lane) { return lane; }},
       {"neighbours, all zeros", [](int lane) { return lane; }},
       {"stride 2, upper half zeros", [](int lane) { return 2 * lane; }}});
  for (const auto& [index, zero] : std::vector<std::pair<std::size_t, std::function<bool(int)>>>{
           {4, [](int lane) { return lane >= 16; }},
           {5, [](int lane) { return lane % 2 == 1; }},
           {6, [](int) { return true; }},
           {7, [](int lane) { return lane >= 16; }}}) {
    for (int lane = 0; lane < WarpAccess::kLanes; ++lane) {
      patterns[first_copy + index].zero_filled.push_back(zero(lane));
    }
  }
  for (const CopyForm form : {CopyForm::bypass, CopyForm::bypass_sized}) add_copies(patterns, form);
  add(patterns, "LDS", 4, common());
  add(patterns, "LDS.64", 8, phased());
  add(patterns, "LDS.128", 16, wide());
  for (const int stride : {1, 2, 8, 9}) {
    SharedPattern pattern;
    pattern.instruction = "LDSM";
    pattern.name = "rows " + std::to_string(16 * stride) + " bytes apart";
    pattern.access = warp_access(16, [&](int lane) { return std::int64_t{16 * stride * lane}; });
    for (int matrix = 0; matrix < 4; ++matrix) {
      WarpAccess rows = pattern.access;
      for (int lane = 0; lane < WarpAccess::kLanes; ++lane) {
        if (lane / 8 != matrix)
          rows.offsets[static_cast<std::size_t>(lane)] = WarpAccess::kInactive;
      }
      pattern.wavefronts += shared_access(rows).wavefronts;
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

Result<TranslationUnit> patterns_unit() {
  auto files = kernel_files();
  if (!files) return std::unexpected(files.error());
  for (std::size_t i = 0; i < kTestKernels_size; ++i) {
    if (kTestKernels[i].name.ends_with("shared_patterns.cuh")) {
      (*files)["ladder/97_shared_patterns.cuh"] = kTestKernels[i].text;
    }
  }
  Schedule schedule;
  schedule.name = schedule.kernel = "shared_patterns";
  schedule.tiles = {{.level = Level::block, .m = 1, .n = 1, .k = 1}};
  const Problem p = make_problem(1, 1, 1);
  return write_translation_unit(*files, p, schedule, make_constants(p, schedule));
}

std::vector<int> pattern_offsets(const std::vector<SharedPattern>& patterns) {
  std::vector<int> offsets;
  for (const SharedPattern& pattern : patterns) {
    for (std::size_t lane = 0; lane < WarpAccess::kLanes; ++lane) {
      constexpr int kWordBytes = 4, kSourceUnit = 1 << 15;  // shared_patterns.cuh
      int offset = static_cast<int>(pattern.access.offsets[lane]);
      if (pattern.from) {
        offset += static_cast<int>(pattern.from->offsets[lane]) / kWordBytes * kSourceUnit;
      }
      const bool zero = !pattern.zero_filled.empty() && pattern.zero_filled[lane];
      offsets.push_back(zero ? -offset - 1 : offset);
    }
  }
  return offsets;
}

}  // namespace tilewise::gpu
