// tilewise devices: what this machine has to run products on a GPU, and what is missing.
#include <fmt/format.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/text_table.h"
#include "report/first_call.h"
#include "report/gpu_findings.h"

namespace tilewise::cli {
namespace {

std::string as_text(const std::vector<Finding>& findings) {
  TextTable table({{"what", TextTable::Align::left},
                   {"", TextTable::Align::left},
                   {"details", TextTable::Align::left}});
  for (const Finding& f : findings)
    table.add_row({f.what, f.found ? "found" : "missing", f.details});
  return table.text();
}

std::string as_text(const std::vector<FirstCall>& calls) {
  TextTable table({{"type", TextTable::Align::left},
                   {"schedule", TextTable::Align::left},
                   {"kernel", TextTable::Align::left},
                   {"context ms"},
                   {"prepare ms"},
                   {"first run ms"},
                   {"second ms"}});
  for (const FirstCall& c : calls) {
    table.add_row({c.type, c.schedule, c.origin, fmt::format("{:.1f}", c.context_ms),
                   fmt::format("{:.2f}", c.prepare_ms), fmt::format("{:.3f}", c.run_ms),
                   fmt::format("{:.3f}", c.second_run_ms)});
  }
  return '\n' + table.text();
}

void write_first_calls(JsonWriter& w, const std::vector<FirstCall>& calls) {
  w.key("first_calls");
  w.begin_array();
  for (const FirstCall& c : calls) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("type", c.type);
    w.member("schedule", c.schedule);
    w.member("origin", c.origin);
    w.member("context_ms", c.context_ms);
    w.member("prepare_ms", c.prepare_ms);
    w.member("run_ms", c.run_ms);
    w.member("second_run_ms", c.second_run_ms);
    w.end_object();
  }
  w.end_array();
}

std::string as_json(const std::vector<Finding>& findings, const std::vector<FirstCall>& calls,
                    const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.devices/1", console, "none");
  if (!calls.empty()) write_first_calls(w, calls);
  w.key("findings");
  w.begin_array();
  for (const Finding& f : findings) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("what", f.what);
    w.member("found", f.found);
    w.member("details", f.details);
    w.end_object();
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

Action declare(CommandLine& line) {
  const auto json = std::make_shared<bool>(false), first_call = std::make_shared<bool>(false);
  line.add_flag("--time-first-call", *first_call,
                "also time the first product of this process, from the context on");
  line.add_flag("--json", *json, "one JSON document (tilewise.devices/1)");
  return [json, first_call](const Console& console) -> Result<ExitCode> {
    Result<std::vector<FirstCall>> calls;
    if (*first_call) calls = time_first_calls();  // before anything else opens the driver
    const std::vector<Finding> findings = find_gpu_parts();
    const std::vector<FirstCall> timed = calls.value_or(std::vector<FirstCall>());
    console.print(*json ? as_json(findings, timed, console)
                        : as_text(findings) + (timed.empty() ? "" : as_text(timed)));
    if (auto ok = require_gpu(); !ok) return std::unexpected(ok.error());
    if (!calls) return std::unexpected(calls.error());
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kDevicesVerb = {
    "devices", "the GPUs, the driver and the compilers found here, and what is missing",
    "  tilewise devices\n"
    "  tilewise devices --json\n"
    "  tilewise devices --time-first-call\n",
    declare};

}  // namespace tilewise::cli
