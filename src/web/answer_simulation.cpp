// Answers that execute the loops: the barriers of a phase, and the whole of a small product.
#include <algorithm>

#include "tilewise/simulate.h"
#include "web/answer.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kMostPhases = 3;                        // of the run without a barrier
constexpr std::int64_t kMostReads = std::int64_t{1} << 26;     // of a simulated product
constexpr std::int64_t kMostInputs = std::int64_t{1} << 22;    // elements of A, and of B
constexpr std::int64_t kMostProducts = std::int64_t{1} << 25;  // of the run without a barrier

// Whole numbers up to 1024: every sum is exact, and two of them are seldom equal, so that a wrong
// one shows.
std::vector<double> whole_values(std::int64_t count, std::uint64_t seed) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(seed >> 54) + 1;
  }
  return values;
}

Result<MissingBarrier> read_missing(const Query& query) {
  const std::string_view text = query.value("without");
  if (text.empty() || text == "none") return MissingBarrier::none;
  if (text == "full") return MissingBarrier::after_load;
  if (text == "empty") return MissingBarrier::after_use;
  return bad_request("without is \"" + std::string(text.substr(0, 40)) +
                     "\"; valid are none, full (the first barrier), empty (the second)");
}

}  // namespace

Answer answer_barriers(const Request& r) {
  const OutputTiles t = output_tiles(r.problem, r.schedule);
  const auto at = read_position(r, t);
  if (!at) return std::unexpected(at.error());
  const auto missing = read_missing(r.query);
  if (!missing) return std::unexpected(missing.error());
  const std::int64_t height = at->m_end - at->m_begin, width = at->n_end - at->n_begin;
  if (!stages_in_shared(r.schedule)) {
    return bad_request(
        r.schedule.device == Device::cpu
            ? "a CPU's schedule has no shared memory, and no barrier to take away"
            : "this schedule stages nothing in shared memory, so that no barrier guards anything");
  }
  if (t.phases == 0) return bad_request("K is 0: there is no phase, and no barrier");
  // Three whole phases, two where the limit allows no more: the second barrier guards nothing in
  // one.
  std::int64_t phases = std::min(kMostPhases, t.phases);
  const auto allowed = [&] {
    return Count(t.m) * Count(t.n) * Count(phases) * Count(t.k) <= Count(kMostProducts);
  };
  if (phases == kMostPhases && !allowed()) --phases;
  if (!allowed()) return bad_request("the block is too large to simulate here");
  const std::int64_t depth = std::min(r.problem.k, phases * t.k);
  const auto a = whole_values(height * depth, 1), b = whole_values(depth * width, 2);
  Schedule one_buffer = r.schedule;  // with several, one barrier a phase is enough
  one_buffer.stages = 1;
  const auto report =
      simulate_barriers(make_problem(height, width, depth), one_buffer, a, b, *missing);
  if (!report) return std::unexpected(report.error());
  std::string wrong;
  for (std::size_t i = 0; i < report->d.size(); ++i) {
    wrong += report->d[i] == report->expected[i] ? '0' : '1';
  }
  JsonWriter w;
  w.begin_object();
  w.member("phases", phases);
  w.member("height", height);
  w.member("width", width);
  w.member("wrong_elements", report->wrong_elements);
  w.member("max_error", report->max_error);
  w.member("first_fault", report->first_fault);
  w.member("wrong", wrong);
  w.end_object();
  return std::move(w).finish();
}

Answer answer_simulate(const Request& r) {
  const auto counted = count_levels(r.problem, r.schedule);
  if (!counted) return std::unexpected(counted.error());
  Count reads = counted->naive;
  for (const LevelCount& level : counted->levels) reads += level.reads;
  const Count a_elements = Count(r.problem.m) * Count(r.problem.k);
  const Count b_elements = Count(r.problem.k) * Count(r.problem.n);
  const Count d_elements = Count(r.problem.m) * Count(r.problem.n);
  JsonWriter w;
  w.begin_object();
  const bool small = reads <= Count(kMostReads) && a_elements <= Count(kMostInputs) &&
                     b_elements <= Count(kMostInputs) && d_elements <= Count(kMostInputs);
  w.member("simulated", small);
  if (small) {
    Problem p = make_problem(r.problem.m, r.problem.n, r.problem.k);
    const auto a = whole_values(p.m * p.k, 1), b = whole_values(p.k * p.n, 2);
    const auto s = simulate(p, r.schedule, a, b);
    if (!s) return std::unexpected(s.error());
    bool equal = Count(s->global_reads) == counted->tiled;
    w.member("global_reads", std::to_string(s->global_reads));
    w.member("shared_reads", std::to_string(s->shared_reads));
    w.key("levels");
    w.begin_array();
    for (std::size_t i = 0; i < s->levels.size(); ++i) {
      const SimulatedLevel& level = s->levels[i];
      equal = equal &&
              (i >= counted->levels.size() || (Count(level.reads_a) == counted->levels[i].reads_a &&
                                               Count(level.reads_b) == counted->levels[i].reads_b));
      w.begin_object(JsonWriter::Layout::line);
      w.member("level", to_string(level.level));
      w.member("reads_a", std::to_string(level.reads_a));
      w.member("reads_b", std::to_string(level.reads_b));
      w.end_object();
    }
    w.end_array();
    w.member("equals_count", equal);
  }
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
