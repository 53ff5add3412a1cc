#include "web/schedule_query.h"

#include <algorithm>
#include <array>

#include "schedule/names.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kLargestSmall = 1 << 20;
constexpr NameTable<Device> kDevices[] = {{Device::cpu, "cpu"}, {Device::gpu, "gpu"}};
constexpr NameTable<Copy> kCopies[] = {
    {Copy::direct, "direct"}, {Copy::cp_async, "cp_async"}, {Copy::bulk, "bulk"}};
constexpr NameTable<Order::Kind> kOrders[] = {{Order::Kind::row, "row"},
                                              {Order::Kind::column, "column"},
                                              {Order::Kind::grouped, "grouped"},
                                              {Order::Kind::hilbert, "hilbert"},
                                              {Order::Kind::serpentine, "serpentine"}};
constexpr NameTable<Order::Axis> kAxes[] = {{Order::Axis::m, "m"}, {Order::Axis::n, "n"}};
constexpr NameTable<SplitK::Reduce> kReduces[] = {{SplitK::Reduce::second_pass, "second_pass"},
                                                  {SplitK::Reduce::atomic, "atomic"}};
constexpr NameTable<Consumers> kConsumers[] = {{Consumers::cooperative, "cooperative"},
                                               {Consumers::ping_pong, "ping_pong"}};
constexpr NameTable<SharedLayout::Kind> kLayouts[] = {{SharedLayout::Kind::plain, "plain"},
                                                      {SharedLayout::Kind::pad, "pad"},
                                                      {SharedLayout::Kind::swizzle, "swizzle"}};
constexpr Compute kComputes[] = {Compute::f32,        Compute::f64,        Compute::tf32,
                                 Compute::f32_tf32x3, Compute::f32_bf16x6, Compute::f32_bf16x9};
constexpr std::array<std::string_view, 19> kFields = {
    "name",    "kernel",    "device",  "note",    "tile",    "cluster",  "stages",
    "copy",    "vector",    "layout",  "order",   "split",   "stream_k", "persistent",
    "swap_ab", "consumers", "promote", "compute", "schedule"};

std::string times(std::int64_t x, std::int64_t y) {
  return std::to_string(x) + "x" + std::to_string(y);
}

std::string tile_text(const Tile& tile) {
  std::string text = std::string(to_string(tile.level)) + ":" + times(tile.m, tile.n) + "x" +
                     std::to_string(tile.k);
  if (tile.repeat_m > 1 || tile.repeat_n > 1) text += "/" + times(tile.repeat_m, tile.repeat_n);
  return text;
}

// Reads fields one after the other; the first error is kept.
class Reader {
 public:
  explicit Reader(const Query& query) : query_(query) {}

  template <class Number>
  void integer(std::string_view name, Number& field, std::int64_t low, std::int64_t high) {
    keep(query_.integer(name, low, high, static_cast<std::int64_t>(field)), field);
  }
  void flag(std::string_view name, bool& field) {
    int value = field ? 1 : 0;
    integer(name, value, 0, 1);
    field = value != 0;
  }
  template <class Enum, std::size_t N>
  void choice(std::string_view name, const NameTable<Enum> (&table)[N], Enum& field) {
    if (query_.has(name)) choose(name, query_.value(name), table, field);
  }
  template <class Enum, std::size_t N>
  void choose(std::string_view name, std::string_view text, const NameTable<Enum> (&table)[N],
              Enum& field) {
    keep(value_of(table, name, text.substr(0, 40)), field);
  }
  void text(std::string_view name, std::string& field) {
    if (query_.has(name)) field = query_.value(name);
  }

  // The parts of "a:b" or "axb"; empty where the name is absent. More than `most` is an error.
  std::vector<std::string_view> parts(std::string_view name, char separator, std::size_t least,
                                      std::size_t most) {
    if (!query_.has(name)) return {};
    auto found = split(query_.value(name), separator);
    if (found.size() >= least && found.size() <= most) return found;
    fail(bad_request(std::string(name) + " is \"" + std::string(query_.value(name).substr(0, 40)) +
                     "\"; it has " + std::to_string(least) +
                     (most == least ? "" : " to " + std::to_string(most)) + " parts with a \"" +
                     separator + "\" between them"));
    return {};
  }
  template <class Number>
  void number(std::string_view name, std::string_view part, Number& field, std::int64_t low,
              std::int64_t high) {
    keep(whole_number(name, part, low, high), field);
  }
  void fail(std::unexpected<Error> error) {
    if (error_.message.empty()) error_ = std::move(error.error());
  }
  template <class Value, class Field>
  void keep(Result<Value> result, Field& field) {
    result ? void(field = static_cast<Field>(*result)) : fail(std::unexpected(result.error()));
  }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const Query& query() const { return query_; }

 private:
  const Query& query_;
  Error error_;
};

void read_tiles(Reader& reader, Schedule& s) {
  const auto texts = reader.query().values("tile");
  if (texts.empty()) return;
  s.tiles.clear();
  if (texts.size() == 1 && texts[0] == "none") return;
  for (const std::string_view text : texts) {
    const auto pieces = split(text, '/');
    Tile tile;
    reader.keep(parse_tile(pieces[0]), tile);
    if (pieces.size() > 1) {
      const auto repeats = split(pieces[1], 'x');
      if (pieces.size() > 2 || repeats.size() != 2) {
        return reader.fail(bad_request("tile is \"" + std::string(text.substr(0, 40)) +
                                       "\"; pieces are written as thread:8x8/2x2"));
      }
      reader.number("tile pieces", repeats[0], tile.repeat_m, 1, kLargestSmall);
      reader.number("tile pieces", repeats[1], tile.repeat_n, 1, kLargestSmall);
    }
    s.tiles.push_back(tile);
  }
}

void read_places(Reader& reader, Schedule& s) {
  if (const auto p = reader.parts("cluster", 'x', 2, 2); !p.empty()) {
    reader.number("cluster", p[0], s.cluster.m, 1, 16);
    reader.number("cluster", p[1], s.cluster.n, 1, 16);
  }
  if (const auto p = reader.parts("vector", ',', 3, 3); !p.empty()) {
    reader.number("vector", p[0], s.vector_bytes.global, 0, 16);
    reader.number("vector", p[1], s.vector_bytes.shared_a, 0, 16);
    reader.number("vector", p[2], s.vector_bytes.shared_b, 0, 16);
  }
  if (const auto p = reader.parts("layout", ':', 1, 2); !p.empty()) {
    reader.choose("layout", p[0], kLayouts, s.shared_layout.kind);
    s.shared_layout.amount = 0;
    if (p.size() > 1) reader.number("layout", p[1], s.shared_layout.amount, 0, 128);
  }
  if (const auto p = reader.parts("order", ':', 1, 3); !p.empty()) {
    reader.choose("order", p[0], kOrders, s.order.kind);
    if (p.size() > 1) reader.number("order", p[1], s.order.group, 1, kLargestSmall);
    if (p.size() > 2) reader.choose("order", p[2], kAxes, s.order.axis);
  }
  if (const auto p = reader.parts("split", ':', 1, 2); !p.empty()) {
    reader.number("split", p[0], s.split_k.ways, 1, kLargestSmall);
    if (p.size() > 1) reader.choose("split", p[1], kReduces, s.split_k.reduce);
  }
}

}  // namespace

void write_schedule_choices(JsonWriter& w) {
  const auto list = [&](std::string_view name, const auto& names, const auto& text) {
    w.key(name);
    w.begin_array(JsonWriter::Layout::line);
    for (const auto& item : names) w.value(text(item));
    w.end_array();
  };
  const auto choices = [&](std::string_view name, const auto& table) {
    list(name, table, [](const auto& entry) { return entry.second; });
  };
  w.begin_object();
  list("fields", kFields, [](std::string_view field) { return field; });
  choices("device", kDevices);
  choices("copy", kCopies);
  choices("layout", kLayouts);
  choices("order", kOrders);
  choices("axis", kAxes);
  choices("reduce", kReduces);
  choices("consumers", kConsumers);
  list("compute", kComputes, [](Compute compute) { return to_string(compute); });
  w.end_object();
}

bool is_schedule_field(std::string_view name) {
  return std::find(kFields.begin(), kFields.end(), name) != kFields.end();
}

Query schedule_query(const Schedule& s) {
  const Schedule standard;
  Query q;
  const auto text = [&](std::string_view name, std::string_view value, std::string_view usual) {
    if (value != usual) q.add(name, value);
  };
  const auto number = [&](std::string_view name, std::int64_t value, std::int64_t usual) {
    if (value != usual) q.add(name, value);
  };
  text("name", s.name, "");
  text("kernel", s.kernel, "");
  text("device", to_string(s.device), to_string(standard.device));
  text("note", s.note, "");
  for (const Tile& tile : s.tiles) q.add("tile", tile_text(tile));
  if (s.cluster != standard.cluster) q.add("cluster", times(s.cluster.m, s.cluster.n));
  number("stages", s.stages, standard.stages);
  text("copy", to_string(s.copy), to_string(standard.copy));
  if (s.vector_bytes != standard.vector_bytes) {
    q.add("vector", std::to_string(s.vector_bytes.global) + "," +
                        std::to_string(s.vector_bytes.shared_a) + "," +
                        std::to_string(s.vector_bytes.shared_b));
  }
  text("layout", to_string(s.shared_layout), "plain");
  if (s.order != standard.order) {
    q.add("order", std::string(to_string(s.order.kind)) + ":" + std::to_string(s.order.group) +
                       ":" + std::string(name_of(kAxes, s.order.axis)));
  }
  if (s.split_k != standard.split_k) {
    q.add("split",
          std::to_string(s.split_k.ways) + ":" + std::string(name_of(kReduces, s.split_k.reduce)));
  }
  number("stream_k", s.stream_k, 0);
  number("persistent", s.persistent, 0);
  number("swap_ab", s.swap_ab, 0);
  text("consumers", name_of(kConsumers, s.consumers), "cooperative");
  number("promote", s.promote_every, 0);
  text("compute", to_string(s.compute), to_string(standard.compute));
  return q;
}

Result<Schedule> apply_schedule(const Query& query, Schedule s) {
  Reader reader(query);
  reader.text("name", s.name);
  reader.text("kernel", s.kernel);
  reader.text("note", s.note);
  reader.choice("device", kDevices, s.device);
  read_tiles(reader, s);
  read_places(reader, s);
  reader.integer("stages", s.stages, 1, kLargestSmall);
  reader.choice("copy", kCopies, s.copy);
  reader.flag("stream_k", s.stream_k);
  reader.flag("persistent", s.persistent);
  reader.flag("swap_ab", s.swap_ab);
  reader.choice("consumers", kConsumers, s.consumers);
  reader.integer("promote", s.promote_every, 0, kLargestSmall);
  if (query.has("compute")) reader.keep(parse_compute(query.value("compute")), s.compute);
  if (!reader.error().message.empty()) return std::unexpected(reader.error());
  if (auto valid = validate(s); !valid) return std::unexpected(valid.error());
  return s;
}

}  // namespace tilewise::web
