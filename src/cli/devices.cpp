// tilewise devices: what this machine has to run products on a GPU, and what is missing.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/text_table.h"
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

std::string as_json(const std::vector<Finding>& findings, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.devices/1", console, "none");
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

Action declare(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document (tilewise.devices/1)");
  return [json](const Console& console) -> Result<ExitCode> {
    const std::vector<Finding> findings = find_gpu_parts();
    console.print(*json ? as_json(findings, console) : as_text(findings));
    if (auto ok = require_gpu(); !ok) return std::unexpected(ok.error());
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kDevicesVerb = {
    "devices", "the GPUs, the driver and the compilers found here, and what is missing",
    "  tilewise devices\n"
    "  tilewise devices --json\n",
    declare};

}  // namespace tilewise::cli
