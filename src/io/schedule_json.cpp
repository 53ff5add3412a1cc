#include "io/schedule_json.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "io/embedded.h"
#include "io/json_reader.h"
#include "io/wording.h"

namespace tilewise {

extern const EmbeddedFile tilewise_schedule_files[];
extern const std::size_t tilewise_schedule_files_size;

namespace {

using nlohmann::json;
using Names = std::vector<std::string_view>;

constexpr std::int64_t kLargestExtent = std::int64_t{1} << 40;
constexpr std::int64_t kLargestSmall = 1 << 20;  // stages, groups, ways, padding
constexpr int kWidestVector = 256;
const Names kLevels = {"cluster", "block", "warp", "thread",  "instruction",
                       "nc",      "kc",    "mc",   "register"};
const Names kDevices = {"cpu", "gpu"};
const Names kCopies = {"direct", "cp_async", "bulk"};
const Names kOrders = {"row", "column", "grouped", "hilbert", "serpentine"};
const Names kAxes = {"m", "n"};
const Names kReduces = {"second_pass", "atomic"};
const Names kConsumers = {"cooperative", "ping_pong"};

// The N of "prefix:N", if it is one and N is a whole number from 1 to kLargestSmall.
std::optional<int> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < 1 || number > kLargestSmall) return std::nullopt;
  return number;
}

Result<Tile> read_tile(const json& value, std::string path) {
  ObjectReader reader(value, std::move(path));
  Tile tile;
  tile.level = static_cast<Level>(reader.choice("level", kLevels, 0));
  reader.require("level");
  tile.m = reader.integer("m", 0, kLargestExtent, 0);
  tile.n = reader.integer("n", 0, kLargestExtent, 0);
  tile.k = reader.integer("k", 0, kLargestExtent, 0);
  tile.repeat_m = reader.integer("repeat_m", 1, kLargestExtent, 1);
  tile.repeat_n = reader.integer("repeat_n", 1, kLargestExtent, 1);
  if (const Result<void> done = reader.finish(); !done) return std::unexpected(done.error());
  return tile;
}

void read_tiles(ObjectReader& reader, Schedule& schedule) {
  const json* tiles = reader.array("tiles");
  if (tiles == nullptr) return reader.require("tiles");
  if (tiles->size() > kLevels.size()) {
    return reader.fail("tiles", fmt::format("at most {} levels", kLevels.size()));
  }
  for (std::size_t i = 0; i < tiles->size(); ++i) {
    Result<Tile> tile = read_tile((*tiles)[i], fmt::format("{}[{}]", reader.path_of("tiles"), i));
    if (!tile) return reader.fail_with(tile.error());
    schedule.tiles.push_back(*tile);
  }
}

// Reads a nested object of a few fields with `read`, if it is there.
template <class Read>
void read_nested(ObjectReader& reader, std::string_view name, Read read) {
  const json* value = reader.object(name);
  if (value == nullptr) return;
  ObjectReader nested(*value, reader.path_of(name));
  read(nested);
  if (const Result<void> done = nested.finish(); !done) reader.fail_with(done.error());
}

int small_integer(ObjectReader& reader, std::string_view name, int low, int absent,
                  std::int64_t high = kLargestSmall) {
  return static_cast<int>(reader.integer(name, low, high, absent));
}

void read_shared_layout(ObjectReader& reader, Schedule& schedule) {
  const std::string text = reader.string("shared_layout", "plain");
  using Kind = SharedLayout::Kind;
  if (text == "plain") return;
  if (const auto pad = number_after(text, "pad:")) {
    schedule.shared_layout = {Kind::pad, *pad};
    return;
  }
  for (const int bytes : {32, 64, 128}) {
    const SharedLayout swizzle{Kind::swizzle, bytes};
    if (text != to_string(swizzle)) continue;
    schedule.shared_layout = swizzle;
    return;
  }
  reader.fail("shared_layout",
              "valid are \"plain\", \"pad:N\" with N elements, and \"swizzle:32\", \"swizzle:64\" "
              "or \"swizzle:128\"");
}

void read_accumulate(ObjectReader& reader, Schedule& schedule) {
  const std::string text = reader.string("accumulate", "plain");
  if (text == "plain") return;
  if (const auto every = number_after(text, "promoted:")) {
    schedule.promote_every = *every;
  } else {
    reader.fail("accumulate", "valid are \"plain\" and \"promoted:N\" with N elements of K");
  }
}

void read_compute(ObjectReader& reader, Schedule& schedule) {
  const std::string text = reader.string("compute", "f32");
  if (reader.failed()) return;
  const Result<Compute> compute = parse_compute(text);
  if (!compute) return reader.fail_with(compute.error());
  schedule.compute = *compute;
}

void read_groups_of_fields(ObjectReader& reader, Schedule& schedule) {
  read_nested(reader, "cluster", [&](ObjectReader& nested) {
    schedule.cluster.m = small_integer(nested, "m", 1, 1);
    schedule.cluster.n = small_integer(nested, "n", 1, 1);
  });
  read_nested(reader, "vector_bytes", [&](ObjectReader& nested) {
    schedule.vector_bytes.global = small_integer(nested, "global", 0, 0, kWidestVector);
    schedule.vector_bytes.shared_a = small_integer(nested, "shared_a", 0, 0, kWidestVector);
    schedule.vector_bytes.shared_b = small_integer(nested, "shared_b", 0, 0, kWidestVector);
  });
  read_nested(reader, "order", [&](ObjectReader& nested) {
    schedule.order.kind = static_cast<Order::Kind>(nested.choice("kind", kOrders, 0));
    schedule.order.group = small_integer(nested, "group", 1, 1);
    schedule.order.axis = static_cast<Order::Axis>(nested.choice("axis", kAxes, 0));
  });
  read_nested(reader, "split_k", [&](ObjectReader& nested) {
    schedule.split_k.ways = small_integer(nested, "ways", 1, 1);
    schedule.split_k.reduce = static_cast<SplitK::Reduce>(nested.choice("reduce", kReduces, 0));
  });
}

void write_tiles(JsonWriter& w, const Schedule& schedule) {
  w.key("tiles");
  w.begin_array();
  for (const Tile& tile : schedule.tiles) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("level", to_string(tile.level));
    w.member("m", tile.m);
    w.member("n", tile.n);
    w.member("k", tile.k);
    w.member("repeat_m", tile.repeat_m);
    w.member("repeat_n", tile.repeat_n);
    w.end_object();
  }
  w.end_array();
}

void write_groups_of_fields(JsonWriter& w, const Schedule& schedule) {
  constexpr auto kLine = JsonWriter::Layout::line;
  w.key("vector_bytes");
  w.begin_object(kLine);
  w.member("global", schedule.vector_bytes.global);
  w.member("shared_a", schedule.vector_bytes.shared_a);
  w.member("shared_b", schedule.vector_bytes.shared_b);
  w.end_object();
  w.member("shared_layout", to_string(schedule.shared_layout));
  w.key("order");
  w.begin_object(kLine);
  w.member("kind", to_string(schedule.order.kind));
  w.member("group", schedule.order.group);
  w.member("axis", kAxes[static_cast<std::size_t>(schedule.order.axis)]);
  w.end_object();
  w.key("split_k");
  w.begin_object(kLine);
  w.member("ways", schedule.split_k.ways);
  w.member("reduce", kReduces[static_cast<std::size_t>(schedule.split_k.reduce)]);
  w.end_object();
}

std::vector<Schedule> read_embedded() {
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < tilewise_schedule_files_size; ++i) {
    // A test parses every file; one that does not parse is left out here.
    if (Result<Schedule> schedule = parse_schedule(tilewise_schedule_files[i].text)) {
      schedules.push_back(std::move(*schedule));
    }
  }
  return schedules;
}

}  // namespace

Result<Schedule> parse_schedule(std::string_view text) {
  const Result<json> document = parse_json(text, "schedule");
  if (!document) return std::unexpected(document.error());
  ObjectReader reader(*document, "schedule");
  Schedule schedule;
  if (reader.string("schema") != Schedule::kSchema) {
    reader.fail("schema", fmt::format("it must be \"{}\"", Schedule::kSchema));
  }
  schedule.name = reader.string("name");
  reader.require("name");
  schedule.kernel = reader.string("kernel");
  reader.require("kernel");
  schedule.device = static_cast<Device>(reader.choice("device", kDevices, 1));
  read_tiles(reader, schedule);
  read_groups_of_fields(reader, schedule);
  schedule.stages = small_integer(reader, "stages", 1, 1);
  schedule.copy = static_cast<Copy>(reader.choice("copy", kCopies, 0));
  read_shared_layout(reader, schedule);
  schedule.stream_k = reader.boolean("stream_k", false);
  schedule.persistent = reader.boolean("persistent", false);
  schedule.consumers = static_cast<Consumers>(reader.choice("consumers", kConsumers, 0));
  schedule.swap_ab = reader.boolean("swap_ab", false);
  read_accumulate(reader, schedule);
  read_compute(reader, schedule);
  schedule.note = reader.string("note");
  if (const Result<void> done = reader.finish(); !done) return std::unexpected(done.error());
  if (const Result<void> valid = validate(schedule); !valid) return std::unexpected(valid.error());
  return schedule;
}

void write_schedule(JsonWriter& w, const Schedule& schedule) {
  w.begin_object();
  w.member("schema", Schedule::kSchema);
  w.member("name", schedule.name);
  w.member("kernel", schedule.kernel);
  w.member("device", to_string(schedule.device));
  write_tiles(w, schedule);
  w.key("cluster");
  w.begin_object(JsonWriter::Layout::line);
  w.member("m", schedule.cluster.m);
  w.member("n", schedule.cluster.n);
  w.end_object();
  w.member("stages", schedule.stages);
  w.member("copy", to_string(schedule.copy));
  write_groups_of_fields(w, schedule);
  w.member("stream_k", schedule.stream_k);
  w.member("persistent", schedule.persistent);
  w.member("consumers", kConsumers[static_cast<std::size_t>(schedule.consumers)]);
  w.member("swap_ab", schedule.swap_ab);
  w.member("accumulate", schedule.promote_every == 0
                             ? std::string("plain")
                             : fmt::format("promoted:{}", schedule.promote_every));
  w.member("compute", to_string(schedule.compute));
  w.member("note", schedule.note);
  w.end_object();
}

std::string to_json(const Schedule& schedule) {
  JsonWriter w;
  write_schedule(w, schedule);
  return std::move(w).finish();
}

std::span<const Schedule> named_schedules() {
  static const std::vector<Schedule> schedules = read_embedded();
  return schedules;
}

Result<Schedule> find_schedule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.name == name) return schedule;
    names.push_back(schedule.name);
  }
  return bad_request(fmt::format("schedule {} is not known{} (named schedules: {})",
                                 in_quotes(name), did_you_mean(name, names), join_names(names)));
}

}  // namespace tilewise
