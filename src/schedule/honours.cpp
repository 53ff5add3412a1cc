#include "schedule/honours.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace tilewise {
namespace {

std::string text_of(std::int64_t m, std::int64_t n) {
  return std::to_string(m) + " x " + std::to_string(n);
}

void add_tiles(std::vector<SetField>& fields, const Schedule& schedule) {
  for (const Tile& tile : schedule.tiles) {
    const std::string level(to_string(tile.level));
    const std::string extent = text_of(tile.m, tile.n) + " x " + std::to_string(tile.k);
    fields.push_back({level + " tile", extent, {level}});
    if (tile.repeat_m != 1 || tile.repeat_n != 1) {
      fields.push_back({"repeat_m, repeat_n",
                        text_of(tile.repeat_m, tile.repeat_n),
                        {"repeat", "repeat_m", "repeat_n"}});
    }
  }
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Whether a line has one of the words, whole.
bool has_word(std::string_view line, const std::vector<std::string>& words) {
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (std::ranges::find(words, line.substr(at, end - at)) != words.end()) return true;
    at = end + 1;
  }
  return false;
}

// Whether a field with the same name and value is set by one of the kernel's own named schedules.
bool is_fixed_feature(const SetField& field, const Schedule& schedule,
                      std::span<const Schedule> named) {
  return std::ranges::any_of(named, [&](const Schedule& other) {
    if (other.kernel != schedule.kernel || other.device != schedule.device) return false;
    return std::ranges::any_of(set_fields(other), [&](const SetField& set) {
      return set.name == field.name && set.value == field.value;
    });
  });
}

std::string kernels_with(const KernelFiles& files, const SetField& field) {
  std::string names;
  for (const auto& [file, text] : files) {
    const std::string name = kernel_name(file);
    if (name.empty() || !honours(header_line(text, "Honours"), field)) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// What an Honours line may say of a field besides its name, and how a schedule breaks that: "stages
// is 1", or nothing.
struct Condition {
  std::string_view words;
  std::string (*broken)(const Schedule&);
};

std::string tile_is(const Tile& tile) {
  return std::string(to_string(tile.level)) + " tile is " + text_of(tile.m, tile.n);
}

constexpr Condition kConditions[] = {
    {"thread 1 x 1",
     [](const Schedule& s) {
       const Tile* t = find_tile(s, Level::thread);
       return t != nullptr && (t->m > 1 || t->n > 1) ? tile_is(*t) : std::string();
     }},
    {"thread (n = 1)",
     [](const Schedule& s) {
       const Tile* t = find_tile(s, Level::thread);
       return t != nullptr && t->n > 1 ? tile_is(*t) : std::string();
     }},
    {"stages (2 or more)",
     [](const Schedule& s) { return s.stages < 2 ? std::string("stages is 1") : std::string(); }},
    {"shared_a = shared_b = 16",
     [](const Schedule& s) {
       const VectorBytes& v = s.vector_bytes;
       return v.shared_a == 16 && v.shared_b == 16
                  ? std::string()
                  : "vector_bytes of shared memory is " + text_of(v.shared_a, v.shared_b);
     }},
};

// The levels that a kernel's loops have ("tiles: block, thread"), each with a tile. One output a
// thread needs none.
Result<void> check_levels(const Schedule& s, std::string_view line) {
  const auto begin = line.find("tiles:");
  if (begin == line.npos) return {};
  const std::string_view tiles = line.substr(begin, line.find(';', begin) - begin);
  std::vector<Level> levels;
  for (const Level level : {Level::block, Level::warp, Level::thread, Level::instruction}) {
    const std::string name(to_string(level));
    if (!has_word(tiles, {name}) || tiles.find(name + " 1 x 1") != tiles.npos) continue;
    levels.push_back(level);
  }
  return check_has_tiles(s, levels);
}

Result<void> check_conditions(const Schedule& s, std::string_view line) {
  for (const Condition& condition : kConditions) {
    if (line.find(condition.words) == line.npos) continue;
    const std::string broken = condition.broken(s);
    if (broken.empty()) continue;
    return bad_request("schedule: " + broken + ", and kernel \"" + s.kernel + "\" takes " +
                       std::string(condition.words) + "; change it, or take another kernel");
  }
  return {};
}

// "pitches multiples of 8 elements" of a Needs line: what wmma's loads take.
Result<void> check_pitches(const Problem& p, const std::string& kernel, std::string_view needs) {
  constexpr std::int64_t kElements = 8;
  if (needs.find("pitches multiples of 8 elements") == std::string_view::npos) return {};
  const int base_bytes = needed_base_bytes(needs);
  for (const auto& [name, type, strides] :
       {std::tuple{"A", p.type_a, p.a}, std::tuple{"B", p.type_b, p.b}}) {
    const std::string start = std::string("matmul: ") + name;
    const std::string end = ", which kernel \"" + kernel + "\" needs; ";
    if (strides.column != 1 && strides.row != 1) {
      return bad_request(start + " has strides " + text_of(strides.row, strides.column) +
                         " and none of them is 1" + end + "copy it, or take schedule \"mma\"");
    }
    const std::int64_t pitch = strides.column == 1 ? strides.row : strides.column;
    if (pitch % kElements != 0) {
      return bad_request(start + " has a pitch of " + std::to_string(pitch) + " " +
                         std::string(to_string(type)) + " elements, not a multiple of 8" + end +
                         "pad to " +
                         std::to_string((pitch + kElements - 1) / kElements * kElements) +
                         ", or take schedule \"mma\"");
    }
    if (strides.batch * size_bytes(type) % base_bytes != 0) {
      return bad_request(start + " has a batch stride of " + std::to_string(strides.batch) + " " +
                         std::string(to_string(type)) + " elements, not a multiple of 32 bytes" +
                         end + "pad it, or take schedule \"mma\"");
    }
  }
  return {};
}

}  // namespace

std::vector<SetField> set_fields(const Schedule& s) {
  const Schedule defaults;
  std::vector<SetField> fields;
  add_tiles(fields, s);
  if (s.cluster != defaults.cluster) {
    fields.push_back({"cluster", text_of(s.cluster.m, s.cluster.n), {"cluster"}});
  }
  if (s.stages != defaults.stages) {
    fields.push_back({"stages", std::to_string(s.stages), {"stages"}});
  }
  if (s.copy != defaults.copy) fields.push_back({"copy", std::string(to_string(s.copy)), {"copy"}});
  if (s.vector_bytes != defaults.vector_bytes) {
    const VectorBytes& v = s.vector_bytes;
    fields.push_back(
        {"vector_bytes",
         "global " + std::to_string(v.global) + ", shared " + text_of(v.shared_a, v.shared_b),
         {"vector_bytes", "vectors"}});
  }
  if (s.shared_layout != defaults.shared_layout) {
    const bool pad = s.shared_layout.kind == SharedLayout::Kind::pad;
    fields.push_back(
        {"shared_layout", to_string(s.shared_layout), {"shared_layout", pad ? "pad" : "swizzle"}});
  }
  if (s.order != defaults.order) {
    fields.push_back({"order",
                      std::string(to_string(s.order.kind)) + " " + std::to_string(s.order.group) +
                          (s.order.axis == Order::Axis::m ? " along m" : " along n"),
                      {"order"}});
  }
  if (s.split_k != defaults.split_k) {
    const bool atomic = s.split_k.reduce == SplitK::Reduce::atomic;
    fields.push_back({"split_k",
                      std::to_string(s.split_k.ways) + (atomic ? " ways, atomic" : " ways"),
                      {"split_k"}});
  }
  if (s.stream_k) fields.push_back({"stream_k", "true", {"stream_k"}});
  if (s.persistent) fields.push_back({"persistent", "true", {"persistent"}});
  if (s.consumers != defaults.consumers) {
    fields.push_back({"consumers", "ping_pong", {"consumers", "ping_pong"}});
  }
  if (s.swap_ab) fields.push_back({"swap_ab", "true", {"swap_ab"}});
  if (s.promote_every != 0) {
    fields.push_back({"accumulate",
                      "promoted:" + std::to_string(s.promote_every),
                      {"accumulate", "promote", "promoted", "promote_every"}});
  }
  return fields;
}

bool honours(std::string_view line, const SetField& field) { return has_word(line, field.words); }

std::vector<Type> kernel_types(std::string_view needs_line) {
  struct Word {
    Type type;
    std::vector<std::string> words;
  };
  static const std::vector<Word> kWords = {{Type::f64, {"float64", "f64"}},
                                           {Type::f32, {"float32", "f32", "float", "tf32"}},
                                           {Type::bf16, {"bf16"}},
                                           {Type::f16, {"f16"}},
                                           {Type::f8e4m3, {"e4m3", "f8e4m3"}},
                                           {Type::f8e5m2, {"e5m2", "f8e5m2"}}};
  std::vector<Type> types;
  for (const Word& word : kWords) {
    if (has_word(needs_line, word.words)) types.push_back(word.type);
  }
  return types.empty() ? std::vector<Type>{Type::bf16, Type::f16} : types;
}

std::vector<Type> schedule_types(const Schedule& schedule, std::string_view needs_line) {
  std::vector<Type> types = kernel_types(needs_line);
  if (find_tile(schedule, Level::instruction) == nullptr) return types;
  const bool tf32 = schedule.compute == Compute::tf32;
  std::erase_if(types, [&](Type type) { return (type == Type::f32) != tf32; });
  return types;
}

int needed_base_bytes(std::string_view needs_line) {
  return needs_line.find("bases of 32 bytes") == std::string_view::npos ? 1 : 32;
}

Result<void> check_needs(const KernelFiles& files, const Problem& problem, const Schedule& schedule,
                         std::string_view architecture) {
  const auto file = find_kernel_file(files, schedule.kernel);
  if (!file) return std::unexpected(file.error());
  const std::string needs = header_line(files.at(*file), "Needs");
  if (has_word(needs, {"sm_90a"}) && architecture != "sm_90a") {
    return missing_capability("schedule: kernel \"" + schedule.kernel +
                              "\" needs sm_90a, and this GPU is " + std::string(architecture));
  }
  const auto contains = [&](const std::vector<Type>& types) {
    return std::ranges::find(types, problem.type_a) != types.end();
  };
  if (contains(schedule_types(schedule, needs))) {
    return check_pitches(problem, schedule.kernel, needs);
  }
  std::string others;
  for (const auto& [name, text] : files) {
    const std::string kernel = kernel_name(name);
    if (kernel == schedule.kernel || !contains(kernel_types(header_line(text, "Needs")))) continue;
    if (!kernel.empty()) others += (others.empty() ? "" : ", ") + kernel;
  }
  return bad_request("schedule: kernel \"" + schedule.kernel + "\" with compute " +
                     std::string(to_string(schedule.compute)) + " does not multiply " +
                     std::string(to_string(problem.type_a)) +
                     (others.empty()
                          ? "; no GPU kernel does: take another type, or a CPU's schedule"
                          : "; take one that does: " + others));
}

Result<void> check_honoured(const KernelFiles& files, const Schedule& schedule,
                            std::span<const Schedule> named) {
  const auto file = find_kernel_file(files, schedule.kernel);
  if (!file) return std::unexpected(file.error());
  const std::string line = header_line(files.at(*file), "Honours");
  for (const SetField& field : set_fields(schedule)) {
    if (honours(line, field) || is_fixed_feature(field, schedule, named)) continue;
    const std::string others = kernels_with(files, field);
    return bad_request("schedule: " + field.name + " is " + field.value + ", which kernel \"" +
                       schedule.kernel + "\" does not have" +
                       (others.empty() ? "; no kernel has it" : "; take one that has: " + others));
  }
  if (auto ok = check_levels(schedule, line); !ok) return ok;
  if (auto ok = check_conditions(schedule, line); !ok) return ok;
  return check_whole_tiles(schedule);
}

Result<void> check_has_tiles(const Schedule& s, std::span<const Level> levels) {
  for (const Level level : levels) {
    const Tile* tile = find_tile(s, level);
    const bool along_k = level == Level::block || level == Level::instruction;
    if (tile != nullptr && tile->m > 0 && tile->n > 0 && (tile->k > 0 || !along_k)) continue;
    return bad_request("schedule: " + std::string(to_string(level)) + " tile is " +
                       (tile == nullptr
                            ? "not set"
                            : text_of(tile->m, tile->n) + " x " + std::to_string(tile->k)) +
                       ", and kernel \"" + s.kernel + "\" needs one of " +
                       (along_k ? "m x n x k" : "m x n") + ", none of them 0");
  }
  return {};
}

Result<void> check_whole_tiles(const Schedule& schedule) {
  const Tile* outer = nullptr;
  for (const Tile& tile : schedule.tiles) {
    if (tile.m == 0 || tile.n == 0) continue;
    if (outer != nullptr && (outer->m % tile.m != 0 || outer->n % tile.n != 0)) {
      return bad_request("schedule: " + tile_is(tile) + ", which does not divide the " +
                         std::string(to_string(outer->level)) + " tile of " +
                         text_of(outer->m, outer->n) +
                         "; kernels have whole tiles inside a tile: change one of the two");
    }
    outer = &tile;
  }
  constexpr std::int64_t kWarpThreads = 32;
  const Tile* warp = find_tile(schedule, Level::warp);
  const Tile* thread = find_tile(schedule, Level::thread);
  if (warp == nullptr || thread == nullptr || thread->m == 0 || thread->n == 0) return {};
  const std::int64_t threads = warp->m / thread->m * (warp->n / thread->n);
  if (threads == kWarpThreads) return {};
  return bad_request("schedule: " + tile_is(*warp) + ", which " + std::to_string(threads) +
                     " thread tiles of " + text_of(thread->m, thread->n) +
                     " fill; it must be 32: change one of the two");
}

Result<std::string> kernel_that_runs(const KernelFiles& files, const Problem& problem,
                                     const Schedule& schedule, std::string_view architecture,
                                     std::span<const Schedule> named) {
  if (auto ok = check_whole_tiles(schedule); !ok) return std::unexpected(ok.error());
  Schedule s = schedule;
  Error nearest;
  std::size_t fewest = SIZE_MAX;  // fields that the nearest does not have
  for (const auto& [file, text] : files) {
    s.kernel = kernel_name(file);
    if (s.kernel.empty()) continue;
    const auto needs = check_needs(files, problem, s, architecture);
    const auto honoured = needs ? check_honoured(files, s, named) : needs;
    if (honoured) return s.kernel;
    const std::string line = header_line(text, "Honours");
    const auto fields = set_fields(s);
    auto missing = static_cast<std::size_t>(std::ranges::count_if(
        fields, [&](const SetField& field) { return !honours(line, field); }));
    if (!needs) missing += fields.size() + 1;  // of another type: farther than any that takes it
    if (missing >= fewest) continue;
    fewest = missing;
    nearest = honoured.error();
  }
  return std::unexpected(nearest);
}

}  // namespace tilewise
