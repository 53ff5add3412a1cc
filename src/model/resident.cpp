// Schedules that keep a tile of one operand in fast memory: exact counts, and the best tile.
#include <algorithm>
#include <cmath>

#include "tilewise/bounds.h"

namespace tilewise {
namespace {

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return x / y + (x % y != 0); }

// The extents that a resident tile covers: rows x columns.
struct Plane {
  std::int64_t rows = 0, columns = 0;
};

Plane plane(const BoundQuestion& q, Resident resident) {
  switch (resident) {
    case Resident::c:
      return {q.m, q.n};
    case Resident::a:
      return {q.m, q.k};
    case Resident::b:
      return {q.k, q.n};
  }
  return {};
}

// Elements for a rows x columns tile with the shorter side of a second operand held beside it and
// the third operand streamed one element at a time.
Count memory_needed(std::int64_t rows, std::int64_t columns) {
  return Count(rows) * Count(columns) + Count(std::min(rows, columns)) + Count(1);
}

// The widest tile of that height that fits S, at most `limit`; 0: none.
std::int64_t widest(std::int64_t rows, std::int64_t fast_memory, std::int64_t limit) {
  // width >= rows: rows width + rows + 1 <= S.   width < rows: rows width + width + 1 <= S.
  std::int64_t width = (fast_memory - 1) / rows - 1;
  if (width < rows) width = std::min(rows, (fast_memory - 1) / (rows + 1));
  return std::clamp<std::int64_t>(width, 0, limit);
}

void add_partial_sums(ResidentSchedule& s, const BoundQuestion& q, std::int64_t passes) {
  const Count mn = Count(q.m) * Count(q.n);
  s.reads_c = mn * Count(passes - 1);
  s.writes_c = mn * Count(passes);
}

}  // namespace

std::string_view to_string(Resident resident) {
  switch (resident) {
    case Resident::c:
      return "c";
    case Resident::a:
      return "a";
    case Resident::b:
      return "b";
  }
  return "";
}

Result<ResidentSchedule> count_resident(const BoundQuestion& q, Resident resident,
                                        std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1) {
    return bad_request("bound: the resident tile is " + std::to_string(rows) + " x " +
                       std::to_string(columns) + "; extents are 1 or more");
  }
  ResidentSchedule s;
  s.resident = resident;
  s.rows = rows;
  s.columns = columns;
  const Count memory = memory_needed(rows, columns);
  if (memory > Count(INT64_MAX) || memory.overflowed()) {
    return bad_request("bound: a resident tile of " + std::to_string(rows) + " x " +
                       std::to_string(columns) + " exceeds 2^63 elements");
  }
  s.memory = static_cast<std::int64_t>(memory.raw());
  if (q.m == 0 || q.n == 0 || q.k == 0) return s;

  const Count mk = Count(q.m) * Count(q.k), kn = Count(q.k) * Count(q.n);
  s.reads_a = mk;
  s.reads_b = kn;
  if (resident != Resident::a) s.reads_a *= Count(divide_up(q.n, columns));
  if (resident != Resident::b) s.reads_b *= Count(divide_up(q.m, rows));
  add_partial_sums(s, q,
                   resident == Resident::c   ? 1
                   : resident == Resident::a ? divide_up(q.k, columns)
                                             : divide_up(q.k, rows));
  if (q.output == Output::updated) s.reads_c += Count(q.m) * Count(q.n);
  s.moved = s.reads_a + s.reads_b + s.reads_c;
  if (q.counted == Counted::reads_and_writes) s.moved += s.writes_c;
  if (s.moved.overflowed()) return bad_request("bound: the count exceeds 2^127 - 1 elements");
  return s;
}

Result<ResidentSchedule> best_resident(const BoundQuestion& q, Resident resident) {
  if (q.fast_memory < 3) {
    return bad_request("bound: fast memory is " + std::to_string(q.fast_memory) +
                       " elements; give 3 or more");
  }
  const Plane extent = plane(q, resident);
  if (extent.rows < 1 || extent.columns < 1) return count_resident(q, resident, 1, 1);
  Result<ResidentSchedule> best = count_resident(q, resident, 1, 1);
  // A count depends on ceil(extent / rows) alone, so only the smallest height of each quotient
  // matters.
  for (std::int64_t rows = 1; best && rows <= extent.rows;) {
    const std::int64_t columns = widest(rows, q.fast_memory, extent.columns);
    if (columns == 0) break;
    auto candidate = count_resident(q, resident, rows, columns);
    if (!candidate || candidate->moved < best->moved) best = candidate;
    const std::int64_t passes = divide_up(extent.rows, rows);
    if (passes == 1) break;
    rows = divide_up(extent.rows, passes - 1);
  }
  return best;
}

std::int64_t square_edge_held(std::int64_t fast_memory) {
  auto fits = [&](std::int64_t a) {
    return Count(a) * Count(a) + Count(2) * Count(a) <= Count(fast_memory);
  };
  auto a = static_cast<std::int64_t>(std::sqrt(static_cast<double>(fast_memory)));
  while (a > 0 && !fits(a)) --a;
  return a;
}

std::int64_t square_edge_streamed(std::int64_t fast_memory) {
  auto fits = [&](std::int64_t a) { return memory_needed(a, a) <= Count(fast_memory); };
  auto a = static_cast<std::int64_t>(std::sqrt(static_cast<double>(fast_memory)));
  while (a > 0 && !fits(a)) --a;
  return a;
}

}  // namespace tilewise
