#include "tilewise/bounds.h"

#include <algorithm>
#include <cmath>

#include "model/check_sizes.h"

namespace tilewise {
namespace {

double product(const BoundQuestion& q) {
  return static_cast<double>(q.m) * static_cast<double>(q.n) * static_cast<double>(q.k);
}

bool empty(const BoundQuestion& q) { return q.m == 0 || q.n == 0 || q.k == 0; }

Result<void> check(const BoundQuestion& q) {
  if (auto sizes = check_sizes("bound", q.m, q.n, q.k); !sizes) return sizes;
  if (q.fast_memory < 3) {
    return bad_request("bound: fast memory is " + std::to_string(q.fast_memory) +
                       " elements; one element of A, of B and of C must fit: give 3 or more");
  }
  if (q.memories < 1) {
    return bad_request("bound: memories is " + std::to_string(q.memories) +
                       "; the number of private fast memories is 1 or more");
  }
  return {};
}

Count compulsory_elements(const BoundQuestion& q) {
  const Count m(q.m), n(q.n), k(q.k);
  Count total = m * k + k * n;
  if (q.output == Output::updated) total += m * n;
  if (q.counted == Counted::reads_and_writes) total += m * n;
  return total;
}

// What a convention adds to the reads of C += AB (equivalently, to the total of C = AB).
double convention_offset(const BoundQuestion& q) {
  const double mn = static_cast<double>(q.m) * static_cast<double>(q.n);
  if (q.output == Output::created && q.counted == Counted::reads) return -mn;
  if (q.output == Output::updated && q.counted == Counted::reads_and_writes) return mn;
  return 0;
}

std::string with_offset(const BoundQuestion& q, std::string formula) {
  const double offset = convention_offset(q);
  if (offset == 0) return formula;
  return formula + (offset < 0 ? " - MN" : " + MN");
}

Bound hong_kung(const BoundQuestion& q) {
  return {"hong-kung",
          "MNK/sqrt(S)",
          product(q) / std::sqrt(static_cast<double>(q.fast_memory)),
          false,
          "reads+writes, recomputation allowed",
          "Hong and Kung, STOC 1981",
          "an order of growth: Omega(MNK/sqrt(S)) with no constant, so the figure is a scale only"};
}

Bound irony(const BoundQuestion& q) {
  const double s = static_cast<double>(q.fast_memory), p = static_cast<double>(q.memories);
  const bool floor = q.counted == Counted::reads_and_writes;
  return {"irony-toledo-tiskin",
          "MNK/(2 sqrt(2) sqrt(S)) - PS",
          product(q) / (2 * std::sqrt(2.0) * std::sqrt(s)) - p * s,
          floor,
          "reads+writes",
          "Irony, Toledo, Tiskin, JPDC 2004",
          floor ? "" : "counts writes too: not comparable with reads alone"};
}

Bound dongarra(const BoundQuestion& q) {
  return {"dongarra",
          "sqrt(27/8) MNK/sqrt(S)",
          std::sqrt(27.0 / 8.0) * product(q) / std::sqrt(static_cast<double>(q.fast_memory)),
          false,
          "reads+writes",
          "Dongarra, Pineau, Robert, Shi, Vivien 2008",
          "leading term only: lower-order terms are dropped"};
}

double smith_elements(const BoundQuestion& q) {
  const double s = static_cast<double>(q.fast_memory), p = static_cast<double>(q.memories);
  return 2 * product(q) / std::sqrt(s) - 2 * p * s + convention_offset(q);
}

Bound smith(const BoundQuestion& q) {
  return {"smith",
          with_offset(q, "2MNK/sqrt(S) - 2PS"),
          smith_elements(q),
          true,
          "reads of C += AB, C's included; the other conventions follow from it",
          "Smith, Lowery, Langou, van de Geijn, arXiv 1702.02017",
          ""};
}

Bound cosma(const BoundQuestion& q) {
  const double mn = static_cast<double>(q.m) * static_cast<double>(q.n);
  return {
      "cosma",
      with_offset(q, "2MNK/sqrt(S) + MN"),
      2 * product(q) / std::sqrt(static_cast<double>(q.fast_memory)) + mn + convention_offset(q),
      false,
      "reads+writes of C = AB",
      "Kwasniewski et al., SC 2019, arXiv 1908.09606",
      "reference of the C-resident family, not a floor: for K at or below about sqrt(S) other "
      "schedules move less"};
}

SegmentArgument segment(std::string name, const BoundQuestion& q, double transfers, double elements,
                        bool per_operand) {
  SegmentArgument s;
  s.name = std::move(name);
  s.transfers = transfers;
  s.elements = elements;
  s.per_operand = per_operand;
  // Loomis-Whitney: products <= sqrt(|A| |B| |C|); a shared budget is spent best in equal thirds.
  s.products = std::pow(per_operand ? elements : elements / 3, 1.5);
  // The last segment of each memory may be unfinished. The factor keeps a quotient that is a whole
  // number from being rounded up past it.
  const double quotient = product(q) / s.products * (1 - 1e-12);
  s.segments = std::max(0.0, std::ceil(quotient) - static_cast<double>(q.memories));
  s.at_least = s.segments * transfers;
  return s;
}

}  // namespace

std::string_view to_string(Counted counted) {
  return counted == Counted::reads ? "reads" : "reads+writes";
}

std::string_view to_string(Output output) {
  return output == Output::created ? "created" : "updated";
}

Result<double> floor_elements(const BoundQuestion& question) {
  if (auto ok = check(question); !ok) return std::unexpected(ok.error());
  if (empty(question)) return 0.0;
  return std::max(compulsory_elements(question).to_double(), smith_elements(question));
}

Result<BoundReport> bound(const BoundQuestion& question) {
  if (auto ok = check(question); !ok) return std::unexpected(ok.error());
  BoundReport report;
  report.question = question;
  if (empty(question)) {
    report.compared = false;
    return report;
  }
  report.compulsory = compulsory_elements(question);
  if (report.compulsory.overflowed())
    return bad_request("bound: the sizes overflow 2^127 elements");
  report.floor = *floor_elements(question);
  report.bounds = {hong_kung(question), irony(question), dongarra(question), smith(question),
                   cosma(question)};
  const double s = static_cast<double>(question.fast_memory);
  report.segments = {segment("irony-toledo-tiskin", question, s, 2 * s, true),
                     segment("smith", question, 2 * s, 3 * s, false)};
  for (const Resident resident : {Resident::c, Resident::a, Resident::b}) {
    auto best = best_resident(question, resident);
    if (!best) return std::unexpected(best.error());
    report.schedules.push_back(*best);
  }
  return report;
}

Result<MixedBound> mixed_bound(std::int64_t m, std::int64_t n, std::int64_t k, ElementBytes sizes,
                               std::int64_t fast_bytes, std::int64_t memories, Output output,
                               std::int64_t split_ways) {
  if (auto ok = check_sizes("bound", m, n, k); !ok) return std::unexpected(ok.error());
  if (sizes.a < 1 || sizes.b < 1 || sizes.c < 1) {
    return bad_request("bound: element bytes are " + std::to_string(sizes.a) + "," +
                       std::to_string(sizes.b) + "," + std::to_string(sizes.c) +
                       "; each is 1 or more");
  }
  if (fast_bytes < sizes.a + sizes.b + sizes.c) {
    return bad_request("bound: fast memory is " + std::to_string(fast_bytes) +
                       " bytes; one element of A, of B and of C takes " +
                       std::to_string(sizes.a + sizes.b + sizes.c));
  }
  if (memories < 1 || split_ways < 1) {
    return bad_request("bound: memories and ways of split K are 1 or more");
  }
  MixedBound result;
  if (m == 0 || n == 0 || k == 0) return result;
  const double dm = static_cast<double>(m), dn = static_cast<double>(n),
               dk = static_cast<double>(k);
  const double sa = static_cast<double>(sizes.a), sb = static_cast<double>(sizes.b),
               sc = static_cast<double>(sizes.c), s = static_cast<double>(fast_bytes);
  result.formula_bytes =
      2 * dm * dn * dk * std::sqrt(sa * sb * sc / s) - 2 * static_cast<double>(memories) * s;
  result.compulsory_bytes = sa * dm * dk + sb * dk * dn;
  if (output == Output::updated) {
    result.compulsory_bytes += sc * dm * dn;
  } else {
    result.formula_bytes -= sc * dm * dn * static_cast<double>(split_ways);
  }
  result.floor_bytes = std::max(result.formula_bytes, result.compulsory_bytes);
  return result;
}

}  // namespace tilewise
