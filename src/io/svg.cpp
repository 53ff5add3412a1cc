#include "io/svg.h"

#include <fmt/format.h>

#include <iterator>

namespace tilewise {

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

Svg::Svg(int width, int height) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" style=\"fill:#ffffff\"/>\n",
      width, height);
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view style) {
  text_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" style=\"{}\"/>\n", x, y,
      width, height, style);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  text_ +=
      fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" style=\"{}\"/>\n",
                  x1, y1, x2, y2, style);
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view style) {
  text_ += "<polyline points=\"";
  for (const auto& [x, y] : points) {
    text_ += fmt::format("{:.2f},{:.2f} ", x, y);
  }
  text_ += fmt::format("\" style=\"fill:none;{}\"/>\n", style);
}

void Svg::circle(double x, double y, double radius, std::string_view style) {
  text_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" style=\"{}\"/>\n", x, y,
                       radius, style);
}

void Svg::text(double x, double y, std::string_view words, std::string_view anchor,
               std::string_view style) {
  text_ +=
      fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" style=\"{}\">{}</text>\n", x,
                  y, anchor, style, escape_xml(words));
}

std::string Svg::finish() && { return std::move(text_) + "</svg>\n"; }

}  // namespace tilewise
