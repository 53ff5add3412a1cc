#include "io/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tilewise {
namespace {

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::string space(width - std::min(width, cell.size()), ' ');
  return align == TextTable::Align::left ? cell + space : space + cell;
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].title.size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
    titles.push_back(columns_[c].title);
  }
  std::string all;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      line += "  " + padded(cells[c], widths[c], columns_[c].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + '\n';
  };
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return all;
}

std::string readable_bytes(double bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
  constexpr double kStep = 1000;
  if (bytes < kStep) return fmt::format("{:.0f} B", bytes);
  std::size_t unit = 0;
  bytes /= kStep;
  while (bytes >= 999.95 && unit + 1 < kUnits.size()) {
    bytes /= kStep;
    ++unit;
  }
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string grouped_digits(std::string_view digits) {
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

}  // namespace tilewise
