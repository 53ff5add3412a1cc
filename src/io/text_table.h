// A table in columns of text for the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

class TextTable {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Each line indented by two spaces; columns two spaces apart, no trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 549.8 GB, 134.2 MB, 17 B: powers of ten.
[[nodiscard]] std::string readable_bytes(double bytes);
// Digits in groups of three: 137,438,953,472.
[[nodiscard]] std::string grouped_digits(std::string_view digits);

}  // namespace tilewise
