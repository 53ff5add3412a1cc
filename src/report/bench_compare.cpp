#include "report/bench_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tilewise {
namespace {

std::string key_of(const BenchRow& row, bool with_schedule) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", row.suite, row.name, row.m, row.n,
                     row.k, row.batch, row.dtype, row.layout, row.compute, row.scale, row.epilogue,
                     row.device, row.threads, with_schedule ? row.schedule : "");
}

bool has_duplicates(const std::vector<BenchRow>& rows) {
  std::set<std::string> keys;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const BenchRow& row) { return !keys.insert(key_of(row, false)).second; });
}

Change change_of(const BenchRow& before, const BenchRow& after, double threshold) {
  if (before.verified != false && after.verified == false) return Change::wrong;
  const double ratio = after.time_us / before.time_us;
  if (ratio > 1 + threshold && after.low_us > before.high_us) return Change::slower;
  if (ratio < 1 / (1 + threshold) && after.high_us < before.low_us) return Change::faster;
  return Change::same;
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::same:
      return "same";
    case Change::faster:
      return "faster";
    case Change::slower:
      return "slower";
    case Change::wrong:
      return "wrong";
  }
  return "?";
}

bool Comparison::has_regression() const {
  return std::any_of(rows.begin(), rows.end(), [](const ComparedRow& row) {
    return row.change == Change::slower || row.change == Change::wrong;
  });
}

Result<Comparison> compare(const BenchDocument& before, const BenchDocument& after,
                           double threshold) {
  const bool with_schedule = has_duplicates(before.rows) || has_duplicates(after.rows);
  std::map<std::string, const BenchRow*> unmatched;
  for (const BenchRow& row : after.rows) unmatched[key_of(row, with_schedule)] = &row;
  Comparison comparison;
  double logarithms = 0;
  for (const BenchRow& row : before.rows) {
    const auto partner = unmatched.find(key_of(row, with_schedule));
    if (partner == unmatched.end()) {
      comparison.only_before.push_back(row.name);
      continue;
    }
    const BenchRow& now = *partner->second;
    const double ratio = now.time_us / row.time_us;
    comparison.rows.push_back({row, now, ratio, change_of(row, now, threshold)});
    logarithms += std::log(ratio);
    unmatched.erase(partner);
  }
  for (const auto& [key, row] : unmatched) comparison.only_after.push_back(row->name);
  if (comparison.rows.empty()) {
    return bad_request(
        "no row of the first document has a partner in the second: suite, name, sizes, types, "
        "layout, "
        "epilogue, device and threads have to be the same");
  }
  comparison.geomean_ratio = std::exp(logarithms / static_cast<double>(comparison.rows.size()));
  return comparison;
}

}  // namespace tilewise
