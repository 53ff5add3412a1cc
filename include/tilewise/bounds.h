// Lower bounds on the traffic between a fast memory of S elements and a slow one, for the classical
// algorithm (every product a[i,k] b[k,j] formed once), and the schedules that come close to them.
//
// Two conventions change every figure and are therefore named in each question and each answer:
//   counted   reads only, or reads and writes
//   output    created: C = A B, an accumulator starts in fast memory for free (beta = 0);
//             updated: C += A B, each element of C is read once as well
// docs/bounds.md has the argument with numbers, and the traps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/count.h"
#include "tilewise/result.h"

namespace tilewise {

enum class Counted : std::uint8_t { reads, reads_and_writes };
enum class Output : std::uint8_t { created, updated };

[[nodiscard]] std::string_view to_string(Counted counted);  // "reads", "reads+writes"
[[nodiscard]] std::string_view to_string(Output output);    // "created", "updated"

// M, N, K 0 or more; fast_memory (S, elements of one memory) 3 or more: one element of each
// operand. memories: P private fast memories of S elements each (SMs, threads) whose traffic is
// summed.
struct BoundQuestion {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t fast_memory = 0;
  std::int64_t memories = 1;
  Output output = Output::created;
  Counted counted = Counted::reads_and_writes;
};

// One published statement, evaluated. elements may be negative (then it says nothing).
struct Bound {
  std::string name;     // "smith", ...
  std::string formula;  // as evaluated, in M N K S P
  double elements = 0;
  bool is_floor = false;  // holds for every schedule under the conventions of the question
  std::string counts;     // what the source counts
  std::string source;
  std::string note;
};

// The argument behind a bound, in numbers: cut any execution into segments of `transfers`
// transfers. In one segment at most `elements` elements are within reach (each of A, B, C when
// per_operand, all together otherwise), so at most `products` products are formed (Loomis-Whitney),
// so there are at least `segments` full segments, and at_least = segments * transfers.
struct SegmentArgument {
  std::string name;
  double transfers = 0;
  double elements = 0;
  bool per_operand = false;
  double products = 0;
  double segments = 0;
  double at_least = 0;
};

// Which operand stays in fast memory while the other two stream past.
enum class Resident : std::uint8_t { c, a, b };
[[nodiscard]] std::string_view to_string(Resident resident);  // "c", "a", "b"

// A schedule that keeps a tile of one operand resident: c (m, n), a (m, k), b (k, n); rows x
// columns of that tile. Exact counts in elements, ragged edges included.
struct ResidentSchedule {
  Resident resident = Resident::c;
  std::int64_t rows = 0, columns = 0;
  Count reads_a, reads_b, reads_c, writes_c;
  Count moved;              // what the question counts
  std::int64_t memory = 0;  // elements needed: rows columns + min(rows, columns) + 1
};

struct BoundReport {
  BoundQuestion question;
  bool compared = true;  // false where M, N or K is 0: nothing is read, and every figure is 0
  Count compulsory;      // every element that must move once
  double floor = 0;  // elements: the larger of compulsory and the tightest bound that is a floor
  std::vector<Bound> bounds;
  std::vector<SegmentArgument> segments;
  std::vector<ResidentSchedule> schedules;  // the best c-, a- and b-resident one
};

// Errors: a negative size, S under 3, P under 1. Cost: O(sqrt(M) + sqrt(N) + sqrt(K)).
[[nodiscard]] Result<BoundReport> bound(const BoundQuestion& question);

// The floor alone (elements; 0 where a dimension is 0). Source: Smith, Lowery, Langou, van de Geijn
// 2019, arXiv 1702.02017, with the compulsory traffic; docs/bounds.md derives each convention.
//   created, reads+writes  max(MK+KN+MN,  2MNK/sqrt(S) - 2PS)
//   created, reads         max(MK+KN,     2MNK/sqrt(S) - MN - 2PS)
//   updated, reads         max(MK+KN+MN,  2MNK/sqrt(S) - 2PS)
//   updated, reads+writes  the line above + MN
[[nodiscard]] Result<double> floor_elements(const BoundQuestion& question);

// The exact counts of one resident schedule. Errors: rows or columns under 1; a count over 2^127
// - 1.
//   c  reads A  MK ceil(N/columns)   B  KN ceil(M/rows)   C  0 (updated: MN)   writes MN
//   b  reads A  MK ceil(N/columns)   B  KN   C  MN (ceil(K/rows) - 1) (+MN)    writes MN
//   ceil(K/rows) a  reads A  MK   B  KN ceil(M/rows)   C  MN (ceil(K/columns) - 1) (+MN)    writes
//   MN ceil(K/columns)
[[nodiscard]] Result<ResidentSchedule> count_resident(const BoundQuestion& question,
                                                      Resident resident, std::int64_t rows,
                                                      std::int64_t columns);

// The tile of that family that moves least within S: an integer search over all rectangles.
[[nodiscard]] Result<ResidentSchedule> best_resident(const BoundQuestion& question,
                                                     Resident resident);

// Edge of the largest square C tile: with a column of A and a row of B held beside it (a^2 + 2a <=
// S), or the same with one of them streamed (a^2 + a + 1 <= S).
[[nodiscard]] std::int64_t square_edge_held(std::int64_t fast_memory);
[[nodiscard]] std::int64_t square_edge_streamed(std::int64_t fast_memory);

// ---- Operands of different sizes

// Bytes of an element of A, B and of an accumulator.
struct ElementBytes {
  std::int64_t a = 4, b = 4, c = 4;
};

// Reads in bytes into P private memories of fast_bytes each. With sizes sa, sb, sc the products of
// a segment are at most ((S+T)/3)^1.5 / sqrt(sa sb sc), hence
//   updated  2MNK sqrt(sa sb sc) / sqrt(S) - 2PS;   created  that less sc for each accumulator
//   created
// (MN of them, times split_ways when K is split). Equal sizes give Smith et al. back.
struct MixedBound {
  double formula_bytes = 0;     // may be negative
  double compulsory_bytes = 0;  // sa MK + sb KN, updated: + sc MN
  double floor_bytes = 0;       // the larger one; 0 where a dimension is 0
};
[[nodiscard]] Result<MixedBound> mixed_bound(std::int64_t m, std::int64_t n, std::int64_t k,
                                             ElementBytes sizes, std::int64_t fast_bytes,
                                             std::int64_t memories = 1,
                                             Output output = Output::updated,
                                             std::int64_t split_ways = 1);

// ---- The exact optimum of tiny products

// The red-blue pebble game with in-place accumulation: a fused multiply-add needs its a, b and c in
// fast memory; loads and stores cost 1; partial sums may be stored and loaded again; nothing is
// computed twice. k_in_order: each c takes its products in ascending k; otherwise in any order.
struct OptimalTraffic {
  std::int64_t reads_and_writes = 0;
  std::int64_t states = 0;  // explored
};

// Found by exploring all states in order of cost. question.memories must be 1. Errors: MK + KN +
// MN (K+1) over 63 (the state does not fit a word), or more than kOptimalStates states.
// Cost: up to seconds and 80 MB at the limit; 2 x 2 x 2 takes milliseconds.
constexpr std::int64_t kOptimalStates = 3'000'000;
[[nodiscard]] Result<OptimalTraffic> optimal_traffic(const BoundQuestion& question,
                                                     bool k_in_order = false);

}  // namespace tilewise
