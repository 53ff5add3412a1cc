#include "io/machine_json.h"

#include <fmt/format.h>

#include <cmath>

#include "io/embedded.h"
#include "io/json_reader.h"
#include "io/wording.h"

namespace tilewise {

extern const EmbeddedFile tilewise_machine_files[];
extern const std::size_t tilewise_machine_files_size;

namespace {

using nlohmann::json;

constexpr std::int64_t kLargest = std::int64_t{1} << 53;
constexpr std::size_t kMostEntries = 64;  // memory levels, peaks, notes
constexpr auto kLine = JsonWriter::Layout::line;

// {"value": 4800, "source": "datasheet"}; absent: 0, unknown.
Figure read_figure(ObjectReader& reader, std::string_view name) {
  Figure figure;
  const json* value = reader.object(name);
  if (value == nullptr) return figure;
  ObjectReader nested(*value, reader.path_of(name));
  figure.value = nested.number("value", 0);
  if (!std::isfinite(figure.value) || figure.value < 0) {
    nested.fail("value", "it must be 0 (unknown) or more");
  }
  figure.source = nested.string("source");
  if (figure.value != 0) nested.require("source");
  if (const Result<void> done = nested.finish(); !done) reader.fail_with(done.error());
  return figure;
}

// Each entry of an array of objects, through `read_entry(ObjectReader&)`.
template <class Entry, class Read>
void read_entries(ObjectReader& reader, std::string_view name, std::vector<Entry>& entries,
                  Read read_entry) {
  const json* array = reader.array(name);
  if (array == nullptr) return;
  if (array->size() > kMostEntries) {
    return reader.fail(name, fmt::format("at most {} entries", kMostEntries));
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    ObjectReader nested((*array)[i], fmt::format("{}[{}]", reader.path_of(name), i));
    entries.push_back(read_entry(nested));
    if (const Result<void> done = nested.finish(); !done) return reader.fail_with(done.error());
  }
}

MemoryLevel read_memory(ObjectReader& reader) {
  MemoryLevel level;
  level.name = reader.string("name");
  reader.require("name");
  level.capacity_bytes = read_figure(reader, "capacity_bytes");
  level.bandwidth_gbps = read_figure(reader, "bandwidth_gbps");
  level.measured_bandwidth_gbps = read_figure(reader, "measured_bandwidth_gbps");
  level.unit = reader.string("unit", "device");
  return level;
}

Peak read_peak(ObjectReader& reader) {
  Peak peak;
  peak.name = reader.string("name");
  reader.require("name");
  peak.tflops = read_figure(reader, "tflops");
  peak.measured_tflops = read_figure(reader, "measured_tflops");
  return peak;
}

// The fields of Limits with their names, for reading and writing alike.
template <class AnyLimits, class Visit>
void visit_limits(AnyLimits& limits, Visit visit) {
  visit("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  visit("shared_bytes_per_block", limits.shared_bytes_per_block);
  visit("shared_bytes_reserved", limits.shared_bytes_reserved);
  visit("registers_per_sm", limits.registers_per_sm);
  visit("registers_per_thread", limits.registers_per_thread);
  visit("threads_per_block", limits.threads_per_block);
  visit("warps_per_sm", limits.warps_per_sm);
  visit("blocks_per_sm", limits.blocks_per_sm);
}

void read_limits(ObjectReader& reader, Limits& limits) {
  const json* value = reader.object("limits");
  if (value == nullptr) return;
  ObjectReader nested(*value, reader.path_of("limits"));
  visit_limits(limits, [&](std::string_view name, std::int64_t& limit) {
    limit = nested.integer(name, 0, kLargest, 0);
  });
  limits.source = nested.string("source");
  if (Limits unknown{.source = limits.source}; limits != unknown) nested.require("source");
  if (const Result<void> done = nested.finish(); !done) reader.fail_with(done.error());
}

void read_notes(ObjectReader& reader, std::vector<std::string>& notes) {
  const json* array = reader.array("notes");
  if (array == nullptr) return;
  for (const json& note : *array) {
    if (!note.is_string()) return reader.fail("notes", "it must be an array of strings");
    notes.push_back(note.get<std::string>());
  }
}

void write_figure(JsonWriter& w, std::string_view name, const Figure& figure) {
  if (figure == Figure{}) return;
  w.key(name);
  w.begin_object(kLine);
  w.member("value", figure.value);
  w.member("source", figure.source);
  w.end_object();
}

void write_levels_and_peaks(JsonWriter& w, const Machine& machine) {
  w.key("memory");
  w.begin_array();
  for (const MemoryLevel& level : machine.memory) {
    w.begin_object();
    w.member("name", level.name);
    write_figure(w, "capacity_bytes", level.capacity_bytes);
    write_figure(w, "bandwidth_gbps", level.bandwidth_gbps);
    write_figure(w, "measured_bandwidth_gbps", level.measured_bandwidth_gbps);
    w.member("unit", level.unit);
    w.end_object();
  }
  w.end_array();
  w.key("peaks");
  w.begin_array();
  for (const Peak& peak : machine.peaks) {
    w.begin_object();
    w.member("name", peak.name);
    write_figure(w, "tflops", peak.tflops);
    write_figure(w, "measured_tflops", peak.measured_tflops);
    w.end_object();
  }
  w.end_array();
}

std::vector<Machine> read_embedded() {
  std::vector<Machine> machines;
  for (std::size_t i = 0; i < tilewise_machine_files_size; ++i) {
    // A test parses every file; one that does not parse is left out here.
    if (Result<Machine> machine = parse_machine(tilewise_machine_files[i].text)) {
      machines.push_back(std::move(*machine));
    }
  }
  return machines;
}

}  // namespace

Result<Machine> parse_machine(std::string_view text) {
  const Result<json> document = parse_json(text, "machine");
  if (!document) return std::unexpected(document.error());
  ObjectReader reader(*document, "machine");
  Machine machine;
  if (reader.string("schema") != Machine::kSchema) {
    reader.fail("schema", fmt::format("it must be \"{}\"", Machine::kSchema));
  }
  machine.name = reader.string("name");
  reader.require("name");
  machine.title = reader.string("title", machine.name);
  machine.device = reader.choice("device", {"cpu", "gpu"}, 1) == 0 ? Device::cpu : Device::gpu;
  machine.architecture = reader.string("architecture");
  machine.num_units = reader.integer("num_units", 1, kLargest, 1);
  machine.num_units_source = reader.string("num_units_source");
  machine.boost_mhz = read_figure(reader, "boost_mhz");
  machine.sustained_mhz = read_figure(reader, "sustained_mhz");
  read_entries(reader, "memory", machine.memory, read_memory);
  read_entries(reader, "peaks", machine.peaks, read_peak);
  read_limits(reader, machine.limits);
  read_notes(reader, machine.notes);
  if (const Result<void> done = reader.finish(); !done) return std::unexpected(done.error());
  return machine;
}

void write_machine(JsonWriter& w, const Machine& machine) {
  w.begin_object();
  w.member("schema", Machine::kSchema);
  w.member("name", machine.name);
  w.member("title", machine.title);
  w.member("device", to_string(machine.device));
  w.member("architecture", machine.architecture);
  w.member("num_units", machine.num_units);
  if (!machine.num_units_source.empty()) w.member("num_units_source", machine.num_units_source);
  write_figure(w, "boost_mhz", machine.boost_mhz);
  write_figure(w, "sustained_mhz", machine.sustained_mhz);
  write_levels_and_peaks(w, machine);
  w.key("limits");
  w.begin_object();
  visit_limits(machine.limits,
               [&](std::string_view name, const std::int64_t& limit) { w.member(name, limit); });
  if (!machine.limits.source.empty()) w.member("source", machine.limits.source);
  w.end_object();
  w.key("notes");
  w.begin_array();
  for (const std::string& note : machine.notes) w.value(note);
  w.end_array();
  w.end_object();
}

std::string to_json(const Machine& machine) {
  JsonWriter w;
  write_machine(w, machine);
  return std::move(w).finish();
}

std::span<const Machine> named_machines() {
  static const std::vector<Machine> machines = read_embedded();
  return machines;
}

Result<Machine> find_machine(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Machine& machine : named_machines()) {
    if (machine.name == name) return machine;
    names.push_back(machine.name);
  }
  return bad_request(fmt::format("machine {} is not known{} (named machines: {})", in_quotes(name),
                                 did_you_mean(name, names), join_names(names)));
}

}  // namespace tilewise
