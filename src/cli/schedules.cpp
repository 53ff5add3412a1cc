// tilewise schedules: the named ones, or one in full.
#include <fmt/format.h>

#include <memory>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/schedule_json.h"
#include "io/text_table.h"
#include "io/wording.h"
#include "report/layout_svg.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::optional<std::string> name;
  std::optional<std::string> device;
  bool json = false;
  bool draw = false;
};

Result<std::vector<Schedule>> selected(const Options& options) {
  std::vector<Schedule> schedules;
  if (options.name && options.device) {
    return bad_request(
        fmt::format("--device chooses among all schedules, and {} is one; give one of the two",
                    in_quotes(*options.name)));
  }
  if (options.name) {
    Result<Schedule> schedule = load_schedule(*options.name);
    if (!schedule) return std::unexpected(schedule.error());
    schedules.push_back(std::move(*schedule));
    return schedules;
  }
  if (options.device && options.device != "cpu" && options.device != "gpu") {
    return bad_request(
        fmt::format("--device is {}; valid are cpu and gpu", in_quotes(*options.device)));
  }
  for (const Schedule& schedule : named_schedules()) {
    const bool wanted = !options.device || to_string(schedule.device) == options.device;
    if (wanted) schedules.push_back(schedule);
  }
  return schedules;
}

std::string as_json(const std::vector<Schedule>& schedules, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.schedules/1", console, "none");
  w.key("schedules");
  w.begin_array();
  for (const Schedule& schedule : schedules) write_schedule(w, schedule);
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

std::string as_text(const std::vector<Schedule>& schedules) {
  TextTable table({{"name", TextTable::Align::left},
                   {"device", TextTable::Align::left},
                   {"compute", TextTable::Align::left},
                   {"stages"},
                   {"tiles", TextTable::Align::left}});
  for (const Schedule& schedule : schedules) {
    table.add_row({schedule.name, std::string(to_string(schedule.device)),
                   std::string(to_string(schedule.compute)), fmt::to_string(schedule.stages),
                   describe_tiles(schedule)});
  }
  return table.text();
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("name", options->name, "one schedule in full, as JSON that --schedule reads back")
      .type_name("NAME");
  line.add_option("--device", options->device, "only those of cpu or gpu").type_name("DEVICE");
  line.add_flag("--draw", options->draw,
                "with NAME: an SVG of where its operands lie, from the kernel's address functions");
  line.add_flag("--json", options->json, "one JSON document (tilewise.schedules/1)");
  return [options](const Console& console) -> Result<ExitCode> {
    const Result<std::vector<Schedule>> schedules = selected(*options);
    if (!schedules) return std::unexpected(schedules.error());
    if (options->draw) {
      if (!options->name) return bad_request("--draw draws one schedule; name it");
      const Result<std::string> drawing = layout_svg(schedules->front());
      if (!drawing) return std::unexpected(drawing.error());
      console.print(*drawing);
      return ExitCode::success;
    }
    if (options->json) {
      console.print(as_json(*schedules, console));
    } else {
      console.print(options->name ? to_json(schedules->front()) : as_text(*schedules));
    }
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kSchedulesVerb = {"schedules",
                                    "the named schedules with their tiles, or one in full",
                                    "  tilewise schedules\n"
                                    "  tilewise schedules square_tile > mine.json\n"
                                    "  tilewise schedules --device cpu --json\n"
                                    "  tilewise schedules conflict_free --draw > layout.svg\n",
                                    declare};

}  // namespace tilewise::cli
