// Writes a small SVG document: rectangles, lines, circles, text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewise {

// Coordinates and sizes in pixels, y downwards. style: CSS of the element.
class Svg {
 public:
  Svg(int width, int height);

  void rectangle(double x, double y, double width, double height, std::string_view style);
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view style);
  void circle(double x, double y, double radius, std::string_view style);
  // anchor: "start", "middle", "end".
  void text(double x, double y, std::string_view words, std::string_view anchor = "start",
            std::string_view style = "");

  [[nodiscard]] std::string finish() &&;

 private:
  std::string text_;
};

// & < > " as entities.
[[nodiscard]] std::string escape_xml(std::string_view text);

}  // namespace tilewise
