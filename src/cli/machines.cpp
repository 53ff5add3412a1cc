// tilewise machines: the machines that are described, each figure with its source.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <tuple>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/machine_json.h"
#include "io/text_table.h"
#include "report/find_any_machine.h"
#include "report/measure_host.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::optional<std::string> name;
  bool measure = false;
  bool json = false;
};

Result<std::vector<Machine>> selected(const Options& options) {
  std::vector<Machine> machines;
  if (options.measure) {
    if (options.name && *options.name != "host") {
      return bad_request(
          fmt::format("--measure runs on this machine, \"host\"; \"{}\" is described by its file",
                      *options.name));
    }
    return std::vector<Machine>{measured_host()};
  }
  if (options.name) {
    Result<Machine> machine = find_any_machine(*options.name);
    if (!machine) return std::unexpected(machine.error());
    machines.push_back(std::move(*machine));
    return machines;
  }
  machines.assign(named_machines().begin(), named_machines().end());
  machines.push_back(host_machine());
  return machines;
}

std::string as_json(const std::vector<Machine>& machines, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.machines/1", console, "none");
  w.key("machines");
  w.begin_array();
  for (const Machine& machine : machines) write_machine(w, machine);
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

std::string peak_of(const Machine& machine, std::string_view name) {
  const Peak* peak = find_peak(machine, name);
  if (peak == nullptr) return "-";
  return fmt::format("{:.4g}",
                     peak->tflops.value > 0 ? peak->tflops.value : peak->measured_tflops.value);
}

std::string bandwidth_of(const Machine& machine, std::string_view name) {
  const MemoryLevel* level = find_memory(machine, name);
  if (level == nullptr) return "-";
  const double value = level->bandwidth_gbps.value > 0 ? level->bandwidth_gbps.value
                                                       : level->measured_bandwidth_gbps.value;
  return value > 0 ? fmt::format("{:.4g}", value) : "-";
}

std::string overview(const std::vector<Machine>& machines) {
  TextTable table({{"name", TextTable::Align::left},
                   {"", TextTable::Align::left},
                   {"units"},
                   {"f32 TFLOP/s"},
                   {"bf16 TFLOP/s"},
                   {"DRAM GB/s"},
                   {"L2 bytes"}});
  for (const Machine& machine : machines) {
    const MemoryLevel* l2 = find_memory(machine, "l2");
    table.add_row({machine.name, machine.title, fmt::to_string(machine.num_units),
                   peak_of(machine, "f32"), peak_of(machine, "bf16"), bandwidth_of(machine, "dram"),
                   l2 == nullptr ? "-" : fmt::format("{:.0f}", l2->capacity_bytes.value)});
  }
  return table.text();
}

void add_figure(TextTable& table, const std::string& name, const Figure& figure,
                std::string_view unit) {
  if (figure.value <= 0) return;
  table.add_row({name, fmt::format("{:.10g} {}", figure.value, unit), figure.source});
}

void add_limits(TextTable& table, const Limits& limits) {
  const std::tuple<const char*, std::int64_t, const char*> rows[] = {
      {"shared memory of an SM", limits.shared_bytes_per_sm, "bytes"},
      {"shared memory of a block", limits.shared_bytes_per_block, "bytes"},
      {"shared memory reserved a block", limits.shared_bytes_reserved, "bytes"},
      {"registers of an SM", limits.registers_per_sm, ""},
      {"registers of a thread", limits.registers_per_thread, ""},
      {"threads of a block", limits.threads_per_block, ""},
      {"warps of an SM", limits.warps_per_sm, ""},
      {"blocks of an SM", limits.blocks_per_sm, ""}};
  for (const auto& [name, value, unit] : rows) {
    add_figure(table, name, {static_cast<double>(value), limits.source}, unit);
  }
}

std::string in_full(const Machine& machine) {
  TextTable table({{"figure", TextTable::Align::left},
                   {"value", TextTable::Align::left},
                   {"source", TextTable::Align::left}});
  add_figure(table, machine.device == Device::gpu ? "SMs" : "usable CPUs",
             {static_cast<double>(machine.num_units), machine.num_units_source}, "");
  add_figure(table, "boost clock", machine.boost_mhz, "MHz");
  add_figure(table, "sustained clock", machine.sustained_mhz, "MHz");
  for (const Peak& peak : machine.peaks) {
    add_figure(table, peak.name + " peak", peak.tflops, "TFLOP/s");
    add_figure(table, peak.name + " measured", peak.measured_tflops, "TFLOP/s");
  }
  for (const MemoryLevel& level : machine.memory) {
    add_figure(table, level.name + " capacity of a " + level.unit, level.capacity_bytes, "bytes");
    add_figure(table, level.name + " bandwidth", level.bandwidth_gbps, "GB/s");
    add_figure(table, level.name + " measured bandwidth", level.measured_bandwidth_gbps, "GB/s");
  }
  add_limits(table, machine.limits);
  std::string text =
      fmt::format("{}: {}, {}\n\n", machine.name, machine.title, machine.architecture);
  text += table.text();
  for (const std::string& note : machine.notes) text += "  " + note + '\n';
  return text;
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("name", options->name, "one machine in full; \"host\" is this one")
      .type_name("NAME");
  line.add_flag("--measure", options->measure,
                "fill in this machine's peaks and bandwidths by timing (about a second)");
  line.add_flag("--json", options->json, "one JSON document (tilewise.machines/1)");
  return [options](const Console& console) -> Result<ExitCode> {
    const Result<std::vector<Machine>> machines = selected(*options);
    if (!machines) return std::unexpected(machines.error());
    if (options->json) {
      console.print(as_json(*machines, console));
    } else {
      console.print(options->name || options->measure ? in_full(machines->front())
                                                      : overview(*machines));
    }
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kMachinesVerb = {"machines",
                                   "the machines that are described, each figure with its source",
                                   "  tilewise machines\n"
                                   "  tilewise machines h200\n"
                                   "  tilewise machines --measure --json\n",
                                   declare};

}  // namespace tilewise::cli
