// The drawing of a report: roofline on the left, tiles to scale on the right.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/svg.h"
#include "tilewise/report.h"

namespace tilewise {
namespace {

constexpr int kWidth = 1060, kHeight = 470;
constexpr double kLeft = 70, kRight = 560, kTop = 50, kBottom = 410;  // of the roofline
constexpr double kPanel = 150;                                        // edge of a drawing of tiles
constexpr int kMostLines = 64;  // grid lines that still can be told apart

constexpr std::string_view kAxis = "stroke:#444444";
constexpr std::string_view kRoof = "stroke:#1f5fa8;stroke-width:2";
constexpr std::string_view kHalo = "paint-order:stroke;stroke:#ffffff;stroke-width:4px";
constexpr std::string_view kTile = "fill:#dbe7f5;stroke:#1f5fa8";
constexpr std::string_view kGrid = "stroke:#9db9da";
constexpr std::string_view kInner = "fill:#f5c26b;stroke:#8a5a00";

// Logarithmic axes: intensity in FLOP a byte, rate in TFLOP/s.
class Roofline {
 public:
  Roofline(const Report& r, Svg& svg) : r_(r), svg_(svg), peak_(r.estimate.peak_tflops) {
    double low = 1, high = 10;
    auto include = [&](const LevelEstimate& level) {
      if (level.intensity > 0)
        low = std::min(low, level.intensity), high = std::max(high, level.intensity);
      high = std::max(high, level.ridge);
    };
    for (const LevelEstimate& level : r.estimate.levels) include(level);
    for (const LevelEstimate& level : r.estimate.memories) include(level);
    low_x_ = static_cast<int>(std::floor(std::log10(low) - 0.2));
    high_x_ = static_cast<int>(std::ceil(std::log10(high) + 0.2));
    high_y_ = static_cast<int>(std::ceil(std::log10(peak_) + 0.1));
    low_y_ = high_y_ - 4;
  }

  void draw() {
    axes();
    svg_.line(x(std::pow(10, low_x_)), y(peak_), kRight, y(peak_), kRoof);
    svg_.text(kRight, y(peak_) - 5,
              fmt::format("{} peak {:.4g} TFLOP/s", r_.estimate.peak.peak, peak_), "end");
    for (const LevelEstimate& level : r_.estimate.memories) roof(level.ridge, level.level);
    for (const LevelEstimate& level : r_.estimate.levels) roof(level.ridge, level.memory);
    for (const LevelEstimate& level : r_.estimate.levels) point(level, false);
    for (const LevelEstimate& level : r_.estimate.memories) point(level, true);
  }

 private:
  [[nodiscard]] double x(double intensity) const {
    return kLeft + (std::log10(intensity) - low_x_) / (high_x_ - low_x_) * (kRight - kLeft);
  }
  [[nodiscard]] double y(double tflops) const {
    const double share = (std::log10(tflops) - low_y_) / (high_y_ - low_y_);
    return kBottom - std::clamp(share, 0.0, 1.0) * (kBottom - kTop);
  }

  void axes() {
    svg_.line(kLeft, kBottom, kRight, kBottom, kAxis);
    svg_.line(kLeft, kTop, kLeft, kBottom, kAxis);
    for (int e = low_x_; e <= high_x_; ++e) {
      const double mark = std::pow(10, e);
      svg_.line(x(mark), kBottom, x(mark), kBottom + 5, kAxis);
      svg_.text(x(mark), kBottom + 20, fmt::format("{:g}", mark), "middle");
    }
    for (int e = low_y_; e <= high_y_; ++e) {
      const double mark = std::pow(10, e);
      svg_.line(kLeft - 5, y(mark), kLeft, y(mark), kAxis);
      svg_.text(kLeft - 8, y(mark) + 4, fmt::format("{:g}", mark), "end");
    }
    svg_.text((kLeft + kRight) / 2, kBottom + 35, "FLOP a byte", "middle");
    svg_.text(kLeft - 8, kTop - 12, "TFLOP/s", "end");
  }

  // The slope of one memory: peak at its ridge, less in proportion before it. Drawn and named once;
  // the names stand at different heights, since the slopes are near each other.
  void roof(double ridge, const std::string& memory) {
    if (ridge <= 0 || std::ranges::find(ridges_, ridge) != ridges_.end()) return;
    ridges_.push_back(ridge);
    const double start = std::max(std::pow(10, low_x_), ridge * std::pow(10, low_y_) / peak_);
    svg_.line(x(start), y(peak_ * start / ridge), x(ridge), y(peak_), kRoof);
    const double along = std::pow(10, -0.5 * static_cast<double>(ridges_.size()));
    const double at = std::max(start, ridge * along);
    svg_.text(x(at) + 8, y(peak_ * at / ridge) + 12,
              fmt::format("{} {:.0f} GB/s", memory, peak_ * 1e3 / ridge), "start", kHalo);
  }

  void point(const LevelEstimate& level, bool memory) {
    if (level.intensity <= 0) return;
    const double rate =
        level.ridge > 0 ? peak_ * std::min(1.0, level.intensity / level.ridge) : peak_;
    svg_.circle(x(level.intensity), y(rate), 5, memory ? "fill:#a83232" : "fill:#1f5fa8");
    // Points often lie side by side on the peak: each has a number, and its words in the corner.
    ++points_;
    svg_.text(x(level.intensity), y(rate) + (memory ? -9 : 18), fmt::format("{}", points_),
              "middle");
    svg_.text(
        kRight, kBottom - 110 + 16 * points_,
        fmt::format("{} {}: {:.4g}", points_,
                    memory ? level.level : level.level + ", from " + level.memory, level.intensity),
        "end");
  }

  const Report& r_;
  Svg& svg_;
  double peak_;
  int points_ = 0;
  std::vector<double> ridges_;
  int low_x_ = 0, high_x_ = 0, low_y_ = 0, high_y_ = 0;  // powers of ten at the axes' ends
};

struct Extent {
  std::int64_t m = 0, n = 0;
};

// A parent rectangle to scale, cut by the grid of its tiles, one of them filled.
void draw_tiles(Svg& svg, double left, double top, const std::string& title, Extent parent,
                const std::string& name, Extent tile) {
  const double edge = static_cast<double>(std::max(parent.m, parent.n));
  const auto scaled = [&](std::int64_t x) { return static_cast<double>(x) / edge * kPanel; };
  const double height = scaled(parent.m), width = scaled(parent.n);
  svg.text(left, top - 8, title);
  svg.rectangle(left, top, width, height, kTile);
  if (parent.m <= kMostLines * tile.m && parent.n <= kMostLines * tile.n) {
    for (std::int64_t m = tile.m; m < parent.m; m += tile.m) {
      svg.line(left, top + scaled(m), left + width, top + scaled(m), kGrid);
    }
    for (std::int64_t n = tile.n; n < parent.n; n += tile.n) {
      svg.line(left + scaled(n), top, left + scaled(n), top + height, kGrid);
    }
  }
  svg.rectangle(left, top, scaled(std::min(tile.n, parent.n)), scaled(std::min(tile.m, parent.m)),
                kInner);
  svg.text(left, top + height + 15, fmt::format("{} {} x {}", name, tile.m, tile.n));
}

void draw_hierarchy(Svg& svg, const Report& r) {
  Extent parent{r.problem.m, r.problem.n};
  std::string title = fmt::format("C {} x {}", parent.m, parent.n);
  int drawn = 0;
  for (const Tile& level : r.schedule.tiles) {
    if (level.m == 0 && level.n == 0) continue;  // a width along K alone
    if (drawn == 4) break;
    const Extent tile{level.m > 0 ? level.m : parent.m, level.n > 0 ? level.n : parent.n};
    const int row = drawn / 2, column = drawn % 2;
    const double left = 620 + column * 225, top = 60 + row * 210;
    draw_tiles(svg, left, top, title, parent, std::string(to_string(level.level)), tile);
    title = fmt::format("{} {} x {}", to_string(level.level), tile.m, tile.n);
    parent = tile;
    ++drawn;
  }
}

}  // namespace

std::string report_svg(const Report& r) {
  Svg svg(kWidth, kHeight);
  svg.text(20, 22,
           fmt::format("{} x {} x {} {} on {} by {}", r.problem.m, r.problem.n, r.problem.k,
                       to_string(r.problem.type_a), r.machine.name, r.schedule.name),
           "start", "font-size:15px;font-weight:bold");
  if (r.estimate.peak_tflops > 0) {
    Roofline(r, svg).draw();
  } else {
    svg.text(kLeft, kTop + 20, "The peak of this machine is not known: no roofline.");
  }
  if (r.problem.m > 0 && r.problem.n > 0) draw_hierarchy(svg, r);
  svg.text(20, kHeight - 10, r.limiter);
  return std::move(svg).finish();
}

}  // namespace tilewise
