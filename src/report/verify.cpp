#include "report/verify.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>
#include <vector>

#include "epilogue/element.h"
#include "report/compensated_sum.h"
#include "report/element_check.h"
#include "report/sample_positions.h"
#include "schedule/nearest.h"

namespace tilewise {
namespace {

constexpr int kChunk = 512;  // of k: 32 columns of B in double fit 128 KiB
constexpr std::size_t kPositionsAtOnce = 8192;
constexpr double kStepsPerSecond = 1e9;  // of one thread, a cautious figure
constexpr double kLeastSeconds = 0.05;

double error_of(const CheckedElement& element) {
  const bool same =
      element.computed == element.expected.value ||
      (std::isnan(element.computed) && std::isnan(element.expected.value));  // infinities, too
  return same ? 0 : std::fabs(element.computed - element.expected.value);
}

// Checks the positions of one strip of columns at a time, on one thread.
class StripChecker {
 public:
  explicit StripChecker(const ComputedProduct& product) : product_(product), check_(product) {}

  void check(std::int64_t batch, std::int64_t first_column, std::span<const Position> positions) {
    sums_.assign(positions.size(), CompensatedSum());
    const std::int64_t k = product_.problem.k;
    for (std::int64_t k0 = 0; k0 < k; k0 += kChunk) {
      add_chunk(batch, first_column, positions, k0,
                static_cast<int>(std::min<std::int64_t>(kChunk, k - k0)));
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
      check_.add(batch, positions[i], sums_[i].value(), sums_[i].magnitude());
    }
  }

  [[nodiscard]] const Verification& result() const { return check_.result(); }

 private:
  void add_chunk(std::int64_t batch, std::int64_t first_column, std::span<const Position> positions,
                 std::int64_t k0, int count) {
    const Problem& p = product_.problem;
    bool packed[kPatch] = {};
    std::int64_t row = -1;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto [m, n] = positions[i];
      const auto slot = static_cast<std::size_t>(n - first_column);
      if (!packed[slot]) {
        load_elements(p.type_b, product_.b, batch * p.b.batch + k0 * p.b.row + n * p.b.column,
                      p.b.row, count, columns_.data() + slot * kChunk);
        packed[slot] = true;
      }
      if (m != row) {
        load_elements(p.type_a, product_.a, batch * p.a.batch + m * p.a.row + k0 * p.a.column,
                      p.a.column, count, row_.data());
        row = m;
      }
      const bool exact = p.type_a != Type::f64 && p.type_b != Type::f64;
      accumulate(sums_[i], row_.data(), columns_.data() + slot * kChunk, count, exact);
    }
  }

  const ComputedProduct& product_;
  ElementCheck check_;
  std::vector<CompensatedSum> sums_;
  std::vector<double> columns_ = std::vector<double>(kPatch * kChunk);
  std::vector<double> row_ = std::vector<double>(kChunk);
};

// Hands strips of columns to threads and joins what they found.
class Verifier {
 public:
  Verifier(const ComputedProduct& product, const VerifyOptions& options)
      : product_(product), options_(options) {
    const Problem& p = product.problem;
    grid_ = {.m = p.m, .n = p.n, .tile_m = 0, .tile_n = 0, .seed = options.seed};
    if (!product.schedule.tiles.empty()) {
      grid_.tile_m = product.schedule.tiles.front().m;
      grid_.tile_n = product.schedule.tiles.front().n;
    }
    strips_ = p.n / kPatch + (p.n % kPatch != 0);  // p.n may be 2^63 - 1
    num_items_ = p.m == 0 ? 0 : strips_ * p.batch;
  }

  Verification run(bool full) {
    full_ = full;
    const auto threads =
        std::clamp<std::int64_t>(options_.threads, 1, std::max<std::int64_t>(1, num_items_));
    {
      std::vector<std::jthread> helpers;
      for (std::int64_t i = 1; i < threads; ++i) helpers.emplace_back([this] { work(false); });
      work(true);
    }
    return total_;
  }

 private:
  void work(bool reports) {
    StripChecker checker(product_);
    for (std::int64_t item = next_++; item < num_items_; item = next_++) {
      check_strip(checker, item / strips_, item % strips_ * kPatch);
      if (reports && options_.progress) {
        options_.progress(static_cast<double>(item + 1) / static_cast<double>(num_items_));
      }
    }
    const std::scoped_lock lock(mutex_);
    join(checker);
  }

  void check_strip(StripChecker& checker, std::int64_t batch, std::int64_t first_column) {
    if (full_) {
      constexpr std::int64_t kRows = kPositionsAtOnce / kPatch;
      for (std::int64_t row = 0; row < grid_.m; row += kRows) {
        checker.check(batch, first_column,
                      all_positions(grid_, first_column, row, std::min(row + kRows, grid_.m)));
      }
      return;
    }
    const std::vector<Position> positions = sample_positions(grid_, batch, first_column);
    for (std::size_t i = 0; i < positions.size(); i += kPositionsAtOnce) {
      const std::size_t count = std::min(kPositionsAtOnce, positions.size() - i);
      checker.check(batch, first_column, std::span(positions).subspan(i, count));
    }
  }

  void join(const StripChecker& checker) {
    const Verification& part = checker.result();
    total_.num_checked += part.num_checked;
    total_.num_wrong += part.num_wrong;
    if (!(part.max_error <= total_.max_error)) total_.max_error = part.max_error;
    const bool first = total_.num_checked == part.num_checked;
    if (part.num_checked > 0 && (first || part.worst_share > total_.worst_share)) {
      total_.worst_share = part.worst_share;
      total_.worst = part.worst;
    }
  }

  const ComputedProduct& product_;
  const VerifyOptions& options_;
  SampleGrid grid_;
  std::int64_t strips_ = 0;
  std::int64_t num_items_ = 0;
  bool full_ = false;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  Verification total_;
};

bool full_is_cheap(const ComputedProduct& product, const VerifyOptions& options) {
  const Problem& p = product.problem;
  const double steps = num_flops(p) / 2 + static_cast<double>(p.m) * static_cast<double>(p.n);
  const double allowed_s = std::max(kLeastSeconds, options.product_s);
  return steps <= allowed_s * kStepsPerSecond * std::max(1, options.threads);
}

}  // namespace

std::string_view to_string(VerifyMode mode) {
  switch (mode) {
    case VerifyMode::none:
      return "none";
    case VerifyMode::sample:
      return "sample";
    case VerifyMode::full:
      return "full";
  }
  return "?";
}

Result<VerifyMode> parse_verify_mode(std::string_view name) {
  for (const VerifyMode mode : {VerifyMode::sample, VerifyMode::full, VerifyMode::none}) {
    if (to_string(mode) == name) return mode;
  }
  return bad_request(unknown_name("verification", name, {"sample", "full", "none"}));
}

double Verification::worst_error() const { return error_of(worst); }

Verification verify(const ComputedProduct& product, const VerifyOptions& options) {
  Verification result;
  const Problem& p = product.problem;
  if (options.mode != VerifyMode::none) {
    const auto start = std::chrono::steady_clock::now();
    const bool full = options.mode == VerifyMode::full || full_is_cheap(product, options);
    result = Verifier(product, options).run(full);
    result.mode = full ? VerifyMode::full : VerifyMode::sample;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  result.num_elements = p.m * p.n * p.batch;
  return result;
}

}  // namespace tilewise
