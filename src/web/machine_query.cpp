#include "web/machine_query.h"

#include <algorithm>
#include <string>
#include <utility>

#include "io/json_writer.h"

namespace tilewise::web {
namespace {

using LimitField = std::pair<std::string_view, std::int64_t Limits::*>;
constexpr LimitField kLimits[] = {
    {"shared_bytes_per_sm", &Limits::shared_bytes_per_sm},
    {"shared_bytes_per_block", &Limits::shared_bytes_per_block},
    {"shared_bytes_reserved", &Limits::shared_bytes_reserved},
    {"registers_per_sm", &Limits::registers_per_sm},
    {"registers_per_thread", &Limits::registers_per_thread},
    {"threads_per_block", &Limits::threads_per_block},
    {"warps_per_sm", &Limits::warps_per_sm},
    {"blocks_per_sm", &Limits::blocks_per_sm},
};

// "|" separates the parts of an item.
std::string without_bars(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

std::string figure_text(const Figure& figure) {
  return shortest_json(figure.value) + "|" + without_bars(figure.source);
}

std::unexpected<Error> malformed(std::string_view name, std::string_view value) {
  return bad_request("machine: " + std::string(name.substr(0, 40)) + " is \"" +
                     std::string(value.substr(0, 60)) + "\", which is not in its form");
}

// Digits, a point and an exponent, as shortest_json writes them: exact for up to 15 digits and
// powers of ten up to 10^22.
bool read_number(std::string_view text, double& value) {
  const auto e = text.find('e');
  std::string_view digits = text.substr(0, e);
  const auto point = digits.find('.');
  std::string plain(digits.substr(0, point));
  int exponent = 0;
  if (point != digits.npos) {
    plain += digits.substr(point + 1);
    exponent = -static_cast<int>(digits.size() - point - 1);
  }
  if (e != text.npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto parsed = whole_number("power", power, -40, 40);
    if (!parsed) return false;
    exponent += static_cast<int>(*parsed);
  }
  const auto whole = whole_number("figure", plain, 0, std::int64_t{1} << 53);
  if (!whole) return false;
  double scale = 1;
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) scale *= 10;
  value = exponent < 0 ? static_cast<double>(*whole) / scale : static_cast<double>(*whole) * scale;
  return true;
}

bool read_figure(const std::vector<std::string_view>& parts, std::size_t at, Figure& figure) {
  if (at + 1 >= parts.size()) return false;
  figure.source = parts[at + 1];
  return read_number(parts[at], figure.value);
}

bool read_memory(const std::vector<std::string_view>& parts, Machine& machine) {
  MemoryLevel level;
  const bool good = parts.size() == 8 && read_figure(parts, 1, level.capacity_bytes) &&
                    read_figure(parts, 3, level.bandwidth_gbps) &&
                    read_figure(parts, 5, level.measured_bandwidth_gbps);
  if (!good) return false;
  level.name = parts[0];
  level.unit = parts[7];
  machine.memory.push_back(std::move(level));
  return true;
}

bool read_peak(const std::vector<std::string_view>& parts, Machine& machine) {
  Peak peak;
  const bool good = parts.size() == 5 && read_figure(parts, 1, peak.tflops) &&
                    read_figure(parts, 3, peak.measured_tflops);
  if (!good) return false;
  peak.name = parts[0];
  machine.peaks.push_back(std::move(peak));
  return true;
}

bool read_limit(const std::vector<std::string_view>& parts, Machine& machine) {
  if (parts.size() != 2) return false;
  for (const auto& [name, field] : kLimits) {
    if (name != parts[0]) continue;
    const auto value = whole_number(name, parts[1], 0, INT64_MAX);
    if (!value) return false;
    machine.limits.*field = *value;
    return true;
  }
  return false;
}

bool read_item(std::string_view name, std::string_view value, Machine& machine) {
  const auto parts = split(value, '|');
  if (name == "memory") return read_memory(parts, machine);
  if (name == "peak") return read_peak(parts, machine);
  if (name == "limit") return read_limit(parts, machine);
  if (name == "boost") return parts.size() == 2 && read_figure(parts, 0, machine.boost_mhz);
  if (name == "sustained") return parts.size() == 2 && read_figure(parts, 0, machine.sustained_mhz);
  if (name == "device") {
    machine.device = value == "cpu" ? Device::cpu : Device::gpu;
    return value == "cpu" || value == "gpu";
  }
  if (name == "units") {
    const auto units = whole_number(name, parts[0], 0, INT32_MAX);
    if (units) machine.num_units = *units;
    if (parts.size() == 2) machine.num_units_source = parts[1];
    return units.has_value() && parts.size() <= 2;
  }
  if (name == "limits_source") {
    machine.limits.source = value;
    return true;
  }
  if (name == "name") machine.name = value;
  if (name == "title") machine.title = value;
  if (name == "architecture") machine.architecture = value;
  return name == "name" || name == "title" || name == "architecture";
}

}  // namespace

Query machine_query(const Machine& machine) {
  Query q;
  q.add("name", machine.name);
  q.add("title", machine.title);
  q.add("device", to_string(machine.device));
  q.add("architecture", machine.architecture);
  q.add("units", std::to_string(machine.num_units) + "|" + without_bars(machine.num_units_source));
  q.add("boost", figure_text(machine.boost_mhz));
  q.add("sustained", figure_text(machine.sustained_mhz));
  for (const MemoryLevel& level : machine.memory) {
    q.add("memory", level.name + "|" + figure_text(level.capacity_bytes) + "|" +
                        figure_text(level.bandwidth_gbps) + "|" +
                        figure_text(level.measured_bandwidth_gbps) + "|" + level.unit);
  }
  for (const Peak& peak : machine.peaks) {
    q.add("peak",
          peak.name + "|" + figure_text(peak.tflops) + "|" + figure_text(peak.measured_tflops));
  }
  for (const auto& [name, field] : kLimits) {
    q.add("limit", std::string(name) + "|" + std::to_string(machine.limits.*field));
  }
  q.add("limits_source", machine.limits.source);
  return q;
}

Result<Machine> parse_machine_query(const Query& query) {
  Machine machine;
  for (const auto& [name, value] : query.items()) {
    if (!read_item(name, value, machine)) return malformed(name, value);
  }
  return machine;
}

}  // namespace tilewise::web
