// tilewise bound: what no schedule can beat with a fast memory of S elements, and what comes close.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/verb.h"
#include "io/json_writer.h"
#include "io/text_table.h"
#include "tilewise/bounds.h"

namespace tilewise::cli {
namespace {

constexpr std::int64_t kLargest = INT64_MAX;

struct Options {
  std::vector<std::string> sizes;
  std::string fast_memory;
  std::string memories = "1";
  std::string beta = "0";
  std::string count = "reads+writes";
  std::optional<std::string> element_bytes;
  bool optimal = false;
  bool k_in_order = false;
  bool json = false;
};

struct Answer {
  BoundQuestion question;
  std::optional<BoundReport> report;  // not for operands of different sizes
  std::optional<ElementBytes> sizes;
  MixedBound mixed;
  std::optional<OptimalTraffic> optimal;
};

Result<ElementBytes> parse_element_bytes(const std::string& text) {
  ElementBytes sizes;
  std::int64_t* const targets[] = {&sizes.a, &sizes.b, &sizes.c};
  std::size_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    const std::size_t end = i < 2 ? text.find(',', begin) : text.size();
    const auto value =
        end == std::string::npos
            ? Result<std::int64_t>(bad_request(""))
            : parse_integer("--element-bytes", text.substr(begin, end - begin), 1, 16);
    if (!value) {
      return bad_request(fmt::format(
          "--element-bytes is \"{}\"; give the bytes of A, B and an accumulator, like 2,2,4",
          text));
    }
    *targets[i] = *value;
    begin = end + 1;
  }
  return sizes;
}

Result<BoundQuestion> parse_question(const Options& options) {
  const Result<Sizes> sizes = parse_sizes(options.sizes);
  if (!sizes) return std::unexpected(sizes.error());
  const auto fast = parse_integer("--fast-memory", options.fast_memory, 1, kLargest);
  if (!fast) return std::unexpected(fast.error());
  const auto memories = parse_integer("--memories", options.memories, 1, kLargest);
  if (!memories) return std::unexpected(memories.error());
  BoundQuestion q{sizes->m, sizes->n, sizes->k, *fast, *memories};
  if (options.beta != "0" && options.beta != "1") {
    return bad_request(
        fmt::format("--beta is \"{}\"; valid are 0 (C = AB) and 1 (C += AB)", options.beta));
  }
  q.output = options.beta == "0" ? Output::created : Output::updated;
  if (options.count != "reads" && options.count != "reads+writes") {
    return bad_request(
        fmt::format("--count is \"{}\"; valid are reads and reads+writes", options.count));
  }
  q.counted = options.count == "reads" ? Counted::reads : Counted::reads_and_writes;
  return q;
}

Result<Answer> answer_of(const Options& options) {
  const Result<BoundQuestion> question = parse_question(options);
  if (!question) return std::unexpected(question.error());
  Answer answer{*question, {}, {}, {}, {}};
  if (options.element_bytes) {
    const Result<ElementBytes> sizes = parse_element_bytes(*options.element_bytes);
    if (!sizes) return std::unexpected(sizes.error());
    answer.sizes = *sizes;
    const BoundQuestion& q = *question;
    const auto mixed = mixed_bound(q.m, q.n, q.k, *sizes, q.fast_memory, q.memories, q.output);
    if (!mixed) return std::unexpected(mixed.error());
    answer.mixed = *mixed;
  } else {
    auto report = bound(*question);
    if (!report) return std::unexpected(report.error());
    answer.report = std::move(*report);
  }
  if (options.optimal) {
    if (options.element_bytes) {
      return bad_request("--optimal counts elements: leave --element-bytes out");
    }
    auto optimal = optimal_traffic(*question, options.k_in_order);
    if (!optimal) return std::unexpected(optimal.error());
    answer.optimal = *optimal;
  }
  return answer;
}

std::string note_on_beta(const BoundQuestion& q) {
  return q.output == Output::created
             ? "beta = 0: an accumulator starts in fast memory, C is written once"
             : "beta = 1: C is read once and written once";
}

std::string tile_of(const ResidentSchedule& s) { return fmt::format("{}x{}", s.rows, s.columns); }

void write_report(JsonWriter& w, const BoundReport& report) {
  w.member("compared", report.compared);
  w.member("compulsory", report.compulsory);
  w.member("floor", report.floor);
  w.key("bounds");
  w.begin_array();
  for (const Bound& b : report.bounds) {
    w.begin_object();
    w.member("name", b.name);
    w.member("formula", b.formula);
    w.member("elements", b.elements);
    w.member("is_floor", b.is_floor);
    w.member("counts", b.counts);
    w.member("source", b.source);
    w.member("note", b.note);
    w.end_object();
  }
  w.end_array();
  w.key("segments");
  w.begin_array();
  for (const SegmentArgument& s : report.segments) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("name", s.name);
    w.member("transfers", s.transfers);
    w.member("elements", s.elements);
    w.member("per_operand", s.per_operand);
    w.member("products", s.products);
    w.member("segments", s.segments);
    w.member("at_least", s.at_least);
    w.end_object();
  }
  w.end_array();
  w.key("schedules");
  w.begin_array();
  for (const ResidentSchedule& s : report.schedules) {
    w.begin_object(JsonWriter::Layout::line);
    w.member("resident", to_string(s.resident));
    w.member("rows", s.rows);
    w.member("columns", s.columns);
    w.member("reads_a", s.reads_a);
    w.member("reads_b", s.reads_b);
    w.member("reads_c", s.reads_c);
    w.member("writes_c", s.writes_c);
    w.member("moved", s.moved);
    w.member("memory", s.memory);
    w.end_object();
  }
  w.end_array();
}

std::string as_json(const Answer& answer, const Console& console) {
  const BoundQuestion& q = answer.question;
  JsonWriter w;
  begin_document(w, "tilewise.bound/1", console, "none");
  w.member("m", q.m);
  w.member("n", q.n);
  w.member("k", q.k);
  w.member("fast_memory", q.fast_memory);
  w.member("fast_memory_unit", answer.sizes ? "bytes" : "elements");
  w.member("memories", q.memories);
  w.member("beta", q.output == Output::created ? 0 : 1);
  w.member("output", to_string(q.output));
  w.member("counted", answer.sizes ? "reads" : to_string(q.counted));
  if (answer.report) write_report(w, *answer.report);
  if (answer.sizes) {
    w.key("mixed");
    w.begin_object();
    w.member("bytes_a", answer.sizes->a);
    w.member("bytes_b", answer.sizes->b);
    w.member("bytes_c", answer.sizes->c);
    w.member("formula_bytes", answer.mixed.formula_bytes);
    w.member("compulsory_bytes", answer.mixed.compulsory_bytes);
    w.member("floor_bytes", answer.mixed.floor_bytes);
    w.end_object();
  }
  if (answer.optimal) {
    w.key("optimal");
    w.begin_object();
    w.member("reads_and_writes", answer.optimal->reads_and_writes);
    w.member("states", answer.optimal->states);
    w.end_object();
  }
  w.end_object();
  return std::move(w).finish();
}

std::string rounded(double elements) { return fmt::format("{:.1f}", elements); }

std::string bounds_text(const BoundReport& report) {
  TextTable table({{"bound", TextTable::Align::left},
                   {"elements"},
                   {"formula", TextTable::Align::left},
                   {"", TextTable::Align::left}});
  for (const Bound& b : report.bounds) {
    table.add_row({b.name, rounded(b.elements), b.formula,
                   b.is_floor ? "a floor" : (b.note.empty() ? "" : b.note)});
  }
  return table.text();
}

std::string segments_text(const BoundReport& report) {
  std::string text;
  for (const SegmentArgument& s : report.segments) {
    text += fmt::format(
        "  {}: in {:.0f} transfers at most {:.0f} elements {} are within reach, so at most {:.1f}\n"
        "    products are formed; that makes {:.0f} full segments, hence {:.0f} transfers\n",
        s.name, s.transfers, s.elements, s.per_operand ? "of each operand" : "of all three",
        s.products, s.segments, s.at_least);
  }
  return text;
}

std::string schedules_text(const BoundReport& report) {
  TextTable table({{"resident", TextTable::Align::left},
                   {"tile", TextTable::Align::left},
                   {"reads of A"},
                   {"reads of B"},
                   {"reads of C"},
                   {"writes of C"},
                   {"moved"},
                   {"over floor"}});
  for (const ResidentSchedule& s : report.schedules) {
    table.add_row({std::string(to_string(s.resident)), tile_of(s),
                   grouped_digits(s.reads_a.to_string()), grouped_digits(s.reads_b.to_string()),
                   grouped_digits(s.reads_c.to_string()), grouped_digits(s.writes_c.to_string()),
                   grouped_digits(s.moved.to_string()),
                   fmt::format("{:.3f}", s.moved.to_double() / report.floor)});
  }
  return table.text();
}

std::string as_text(const Answer& answer) {
  const BoundQuestion& q = answer.question;
  std::string text = fmt::format(
      "C[{0},{1}] = A[{0},{2}] B[{2},{1}], {3} fast {4} of {5} {6}\n{7} are counted; {8}\n\n", q.m,
      q.n, q.k, q.memories, q.memories == 1 ? "memory" : "memories", q.fast_memory,
      answer.sizes ? "bytes" : "elements", answer.sizes ? "reads" : to_string(q.counted),
      note_on_beta(q));
  if (!answer.report) {
    text += fmt::format(
        "  2MNK sqrt(sa sb sc)/sqrt(S) - 2PS  {}\n  each operand once                "
        "  {}\n  floor                              {}\n",
        readable_bytes(answer.mixed.formula_bytes), readable_bytes(answer.mixed.compulsory_bytes),
        readable_bytes(answer.mixed.floor_bytes));
    return text;
  }
  const BoundReport& report = *answer.report;
  if (!report.compared)
    return text + "a dimension is 0: nothing is read, and nothing is compared\n";
  text += fmt::format("compulsory {}, floor {}\n", grouped_digits(report.compulsory.to_string()),
                      rounded(report.floor));
  text += bounds_text(report) + "\nsegments\n" + segments_text(report) +
          "\nbest schedules that keep one operand's tile\n" + schedules_text(report);
  if (answer.optimal) {
    text += fmt::format("\noptimum {} reads and writes ({} states explored)\n",
                        answer.optimal->reads_and_writes, answer.optimal->states);
  }
  return text;
}

Action declare(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.add_option("sizes", options->sizes, "M N K").type_name("M N K");
  line.add_option("--fast-memory", options->fast_memory,
                  "S, elements of the fast memory (bytes with --element-bytes)")
      .required();
  line.add_option("--memories", options->memories, "how many private fast memories (SMs, threads)");
  line.add_option("--beta", options->beta, "0: C = AB; 1: C += AB");
  line.add_option("--count", options->count, "reads or reads+writes");
  line.add_option("--element-bytes", options->element_bytes,
                  "bytes of A, B and an accumulator, like 2,2,4: the bound in bytes");
  line.add_flag("--optimal", options->optimal, "the exact optimum of a tiny product");
  line.add_flag("--k-in-order", options->k_in_order, "with --optimal: each sum in ascending k");
  line.add_flag("--json", options->json, "one JSON document (tilewise.bound/1)");
  return [options](const Console& console) -> Result<ExitCode> {
    const Result<Answer> answer = answer_of(*options);
    if (!answer) return std::unexpected(answer.error());
    console.print(options->json ? as_json(*answer, console) : as_text(*answer));
    return ExitCode::success;
  };
}

}  // namespace

extern const Verb kBoundVerb = {
    "bound", "what no schedule can beat with a fast memory of S elements, and what comes close",
    "  tilewise bound 1024 1024 1024 --fast-memory 16384\n"
    "  tilewise bound 2 2 2 --fast-memory 3 --optimal\n"
    "  tilewise bound 8192 8192 8192 --fast-memory 495616 --memories 132 --element-bytes 2,2,4\n"
    "  tilewise bound 10000 10 10 --fast-memory 121 --json\n",
    declare};

}  // namespace tilewise::cli
