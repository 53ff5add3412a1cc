// tilewise mma: tensor-core instructions of a product, and which thread holds which element.
#include "tilewise/mma.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/text_table.h"

namespace tilewise::cli {
namespace {

struct Options {
  std::vector<std::string> sizes;
  std::string shape = "16x8x16";
  std::optional<std::string> layout;
  bool json = false;
};

std::string count_json(const Sizes& sizes, const MmaCount& count, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.mma/1", console, "none");
  w.member("m", sizes.m);
  w.member("n", sizes.n);
  w.member("k", sizes.k);
  w.member("shape", to_string(count.shape));
  w.member("instructions", count.instructions);
  w.member("utilization", count.utilization);
  w.member("padded_m", count.padded_m);
  w.member("padded_n", count.padded_n);
  w.member("padded_k", count.padded_k);
  w.end_object();
  return std::move(w).finish();
}

std::string count_text(const Sizes& sizes, const MmaCount& count) {
  return fmt::format(
      "{}x{}x{} in {}\n  instructions  {}\n  utilization   {:.4f}\n  padded        {}x{}x{}\n",
      sizes.m, sizes.n, sizes.k, to_string(count.shape),
      grouped_digits(count.instructions.to_string()), count.utilization, count.padded_m.to_string(),
      count.padded_n.to_string(), count.padded_k.to_string());
}

std::string layout_json(const MmaLayout& layout, const Console& console) {
  JsonWriter w;
  begin_document(w, "tilewise.mma_layout/1", console, "none");
  w.member("shape", to_string(layout.shape));
  w.member("title", layout.title);
  w.key("fragments");
  w.begin_array();
  for (const FragmentLayout& f : layout.fragments) {
    w.begin_object();
    w.member("operand", f.operand);
    w.member("rows", f.rows);
    w.member("columns", f.columns);
    w.member("threads", f.threads);
    w.member("elements_per_thread", f.elements_per_thread);
    w.key("holders");  // (rows, columns) of [thread, element]
    w.begin_array();
    for (int row = 0; row < f.rows; ++row) {
      w.begin_array(JsonWriter::Layout::line);
      for (int column = 0; column < f.columns; ++column) {
        w.begin_array();
        w.value(f.at(row, column).thread);
        w.value(f.at(row, column).element);
        w.end_array();
      }
      w.end_array();
    }
    w.end_array();
    w.end_object();
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

// Each cell is thread:element; a wide accumulator repeats every 8 columns, so two repeats show it.
std::string layout_text(const MmaLayout& layout) {
  constexpr int kMostColumns = 32;
  std::string text = layout.title + "; each cell is thread:element\n";
  for (const FragmentLayout& f : layout.fragments) {
    const int shown = f.columns > kMostColumns ? 16 : f.columns;
    text +=
        fmt::format("\n{} ({} x {}), {} elements a thread{}\n", f.operand, f.rows, f.columns,
                    f.elements_per_thread,
                    shown < f.columns ? ", the first 16 columns; 8 more add 4 to the element" : "");
    for (int row = 0; row < f.rows; ++row) {
      std::string line;
      for (int column = 0; column < shown; ++column) {
        const FragmentHolder holder = f.at(row, column);
        line += fmt::format("{:>7}", fmt::format("{}:{}", holder.thread, holder.element));
      }
      text += line + '\n';
    }
  }
  return text;
}

Result<std::string> answer_of(const Options& options, const Console& console) {
  if (options.layout) {
    const Result<MmaShape> shape = parse_mma_shape(*options.layout);
    if (!shape) return std::unexpected(shape.error());
    const Result<MmaLayout> layout = mma_layout(*shape);
    if (!layout) return std::unexpected(layout.error());
    return options.json ? layout_json(*layout, console) : layout_text(*layout);
  }
  const Result<Sizes> sizes = parse_sizes(options.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  const Result<MmaShape> shape = parse_mma_shape(options.shape);
  if (!shape) return std::unexpected(shape.error());
  const Result<MmaCount> count = mma_count(sizes->m, sizes->n, sizes->k, *shape);
  if (!count) return std::unexpected(count.error());
  return options.json ? count_json(*sizes, *count, console) : count_text(*sizes, *count);
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K").type_name("M N K");
  line.add_option("--shape", options->shape, "the instruction: 16x8x16, m64n256k16, ...");
  line.add_option("--layout", options->layout,
                  "which thread holds which element: m16n8k8, m16n8k16, m16n8k32, m64nNk16, ...")
      .type_name("SHAPE");
  line.add_flag("--json", options->json,
                "one JSON document (tilewise.mma/1, or tilewise.mma_layout/1)");
  return [options](const Console& console) -> Result<ExitCode> {
    const Result<std::string> answer = answer_of(*options, console);
    if (!answer) return std::unexpected(answer.error());
    console.print(*answer);
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kMmaVerb = {
    "mma", "tensor-core instructions of a product, and which thread holds which element",
    "  tilewise mma 17 17 17\n"
    "  tilewise mma 8192 8192 8192 --shape m64n256k16 --json\n"
    "  tilewise mma --layout m16n8k16\n",
    declare};

}  // namespace tilewise::cli
