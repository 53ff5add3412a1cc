// The ladder as a picture: bars of TFLOP/s, and the roofline of device memory with each rung on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/ladder_text.h"

namespace tilewise::cli {
namespace {

constexpr double kWidth = 900, kBarHeight = 22, kLabelWidth = 190, kMargin = 20;
constexpr double kRoofHeight = 340, kAxis = 50;
constexpr std::string_view kBlue = "#3465a4", kGrey = "#888888", kBlack = "#222222";

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '&')
      escaped += "&amp;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

std::string label(double x, double y, std::string_view text, std::string_view anchor = "start",
                  int size = 13) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\" fill=\"{}\">{}</text>\n",
      x, y, anchor, size, kBlack, escape(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view color) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
      y2, color);
}

double top_of(const Ladder& ladder) {
  double top = ladder.peak_tflops;
  if (ladder.rival) top = std::max(top, ladder.rival->tflops);
  for (const LadderRow& row : ladder.rows) top = std::max(top, row.measured.tflops);
  return top;
}

std::string bar(double y, std::string_view name, double tflops, double top,
                std::string_view color) {
  const double room = kWidth - kLabelWidth - kMargin - 110;
  const double width = top > 0 ? room * tflops / top : 0;
  return label(kLabelWidth - 8, y + 16, name, "end") +
         fmt::format(
             "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
             kLabelWidth, y + 3, width, kBarHeight - 6, color) +
         label(kLabelWidth + width + 6, y + 16, fmt::format("{:.3g} TFLOP/s", tflops));
}

// Both axes are logarithmic: FLOP a byte of device memory by the outermost tile, TFLOP/s.
struct Roof {
  double y0;  // top of the picture
  double low_x, high_x, low_y, high_y;

  double x(double intensity) const {
    return kAxis +
           (kWidth - kAxis - kMargin) * std::log(intensity / low_x) / std::log(high_x / low_x);
  }
  double y(double tflops) const {
    return y0 + kRoofHeight -
           (kRoofHeight - kMargin) * std::log(tflops / low_y) / std::log(high_y / low_y);
  }
};

std::string roofline(const Ladder& ladder, double y0) {
  const double ridge = ladder.peak_tflops * 1000 / ladder.bandwidth_gbps;  // FLOP a byte
  const Roof roof{y0, 0.1, ridge * 100, ladder.peak_tflops / 3000, ladder.peak_tflops * 2};
  const double low = std::max(roof.low_x, roof.low_y * 1000 / ladder.bandwidth_gbps);
  std::string text =
      line(kAxis, y0 + kRoofHeight, kWidth - kMargin, y0 + kRoofHeight, kGrey) +
      line(kAxis, y0, kAxis, y0 + kRoofHeight, kGrey) +
      line(roof.x(low), roof.y(low * ladder.bandwidth_gbps / 1000), roof.x(ridge),
           roof.y(ladder.peak_tflops), kBlack) +
      line(roof.x(ridge), roof.y(ladder.peak_tflops), kWidth - kMargin, roof.y(ladder.peak_tflops),
           kBlack) +
      label(kWidth - kMargin, roof.y(ladder.peak_tflops) - 6,
            fmt::format("peak {:.4g} TFLOP/s", ladder.peak_tflops), "end") +
      label(kWidth / 2, y0 + kRoofHeight + 32,
            "FLOP a byte that the outermost tile reads from global memory", "middle");
  constexpr int kFirstDecade = -1;
  const int end = static_cast<int>(std::ceil(std::log10(roof.high_x)));
  for (int decade = kFirstDecade; decade < end; ++decade) {
    const double x = std::pow(10, decade);
    text += label(roof.x(x), y0 + kRoofHeight + 15, fmt::format("{:g}", x), "middle", 11);
  }
  for (const LadderRow& row : ladder.rows) {
    if (row.counted.levels.empty() || row.measured.tflops <= roof.low_y) continue;
    const double intensity =
        std::clamp(row.counted.levels.front().intensity, roof.low_x, roof.high_x);
    const double x = roof.x(intensity), y = roof.y(row.measured.tflops);
    text +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", x, y, kBlue) +
        label(x + 7, y + 4, row.rung.empty() ? row.measured.schedule.name : row.rung, "start", 11);
  }
  return text;
}

}  // namespace

std::string ladder_svg(const Ladder& ladder) {
  const Problem& p = ladder.problem;
  const double top = top_of(ladder);
  double y = 2 * kMargin + 10;
  std::string body = label(
      kMargin, kMargin + 5,
      fmt::format("{} x {} x {}, {}, {}", p.m, p.n, p.k, to_string(p.type_a), ladder.card.name),
      "start", 16);
  for (const LadderRow& row : ladder.rows) {
    body += bar(y, row.rung + " " + row.measured.schedule.name, row.measured.tflops, top, kBlue);
    y += kBarHeight;
  }
  if (ladder.rival) {
    body += bar(y, ladder.rival->name, ladder.rival->tflops, top, kGrey);
    y += kBarHeight;
  }
  y += kMargin;
  if (ladder.peak_tflops > 0 && ladder.bandwidth_gbps > 0) {
    body += roofline(ladder, y);
    y += kRoofHeight + kAxis;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
             "fill=\"white\"/>\n",
             kWidth, y) +
         body + "</svg>\n";
}

}  // namespace tilewise::cli
