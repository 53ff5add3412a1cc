// tilewise explore: writes the page that shows a tiling step by step.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/tiling_options.h"
#include "cli/verb.h"
#include "explorer/page.h"
#include "explorer/start.h"
#include "io/output_file.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> sizes;
  TilingOptions tiling;
  std::string dtype = "f32";
  std::string machine = "h200";
  std::optional<std::string> output;
  std::optional<std::string> folder;
};

Result<std::string> start_state(const Options& options) {
  explorer::Start start;
  if (!options.sizes.empty()) {
    const Result<Sizes> sizes = parse_sizes(options.sizes);
    if (!sizes) return std::unexpected(sizes.error());
    start.sizes = {sizes->m, sizes->n, sizes->k};
  }
  const Result<Schedule> schedule = schedule_of(options.tiling, "square_tile");
  if (!schedule) return std::unexpected(schedule.error());
  start.schedule = *schedule;
  start.dtype = options.dtype;
  start.machine = options.machine;
  return explorer::start_state(start);
}

Result<void> write_file(const std::string& path, std::string_view text) {
  auto file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (auto done = file->write(std::as_bytes(std::span(text))); !done) return done;
  return file->commit();
}

Result<void> write_folder(const std::string& folder, std::string_view start) {
  const auto files = explorer::files(start);
  if (!files) return std::unexpected(files.error());
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    return bad_request(fmt::format("--folder \"{}\": {}", folder, failure.message()));
  }
  for (const auto& [name, text] : *files) {
    if (auto done = write_file(folder + "/" + name, text); !done) return done;
  }
  return {};
}

Result<ExitCode> explore(const Options& options, const Console& console) {
  if (options.output.has_value() == options.folder.has_value()) {
    return bad_request(
        "explore: give -o FILE for one page, or --folder FOLDER for files that a file server hands "
        "out");
  }
  const Result<std::string> start = start_state(options);
  if (!start) return std::unexpected(start.error());
  if (options.folder) {
    if (auto done = write_folder(*options.folder, *start); !done)
      return std::unexpected(done.error());
    return ExitCode::success;
  }
  const Result<std::string> page = explorer::page(*start);
  if (!page) return std::unexpected(page.error());
  if (*options.output == "-") {
    console.print(*page);
    return ExitCode::success;
  }
  if (auto done = write_file(*options.output, *page); !done) return std::unexpected(done.error());
  return ExitCode::success;
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K (4096 each)").type_name("M N K");
  add_tiling_options(line, options->tiling);
  line.add_option("--dtype", options->dtype, "element type (f32)").type_name("TYPE");
  line.add_option("--machine", options->machine, "a machine of `tilewise machines` (h200)")
      .type_name("NAME");
  line.add_option("-o,--output", options->output,
                  "one HTML file with everything in it; - is standard output")
      .type_name("FILE");
  line.add_option("--folder", options->folder, "the same page as files, for a file server")
      .type_name("FOLDER");
  return [options](const Console& console) { return explore(*options, console); };
}

}  // namespace

extern const Verb kExploreVerb = {
    "explore", "write a page that shows the tiling step by step, in a browser",
    "  tilewise explore 4096 4096 4096 -o page.html\n"
    "  tilewise explore 1000 700 520 --tile block:64x64x16 --tile thread:8x4 -o page.html\n"
    "  tilewise explore 8192 8192 8192 --schedule wgmma_pipeline --dtype bf16 --folder site\n",
    declare};

}  // namespace tilewise::cli
