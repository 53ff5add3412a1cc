#include "io/suite_csv.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <set>

#include "io/file_bytes.h"
#include "io/wording.h"

namespace tilewise {
namespace {

constexpr std::string_view kHeader = "name,m,n,k,batch";
constexpr std::size_t kSuiteBytes = 1 << 20;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == line.npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

Result<SuiteShape> parse_shape(std::string_view line, int number) {
  const std::vector<std::string_view> fields = fields_of(line);
  constexpr std::size_t kFields = 5;
  if (fields.size() != kFields) {
    return bad_request(
        fmt::format("line {} has {} fields; each line is {}", number, fields.size(), kHeader));
  }
  SuiteShape shape{.name = std::string(fields[0]), .m = 0, .n = 0, .k = 0, .batch = 1};
  std::int64_t* const sizes[] = {&shape.m, &shape.n, &shape.k, &shape.batch};
  for (std::size_t i = 1; i < kFields; ++i) {
    const std::string_view text = fields[i];
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), *sizes[i - 1]);
    if (error != std::errc() || end != text.data() + text.size() || *sizes[i - 1] < 0) {
      return bad_request(
          fmt::format("line {}: {} is no whole number of 0 or more", number, in_quotes(text)));
    }
  }
  if (shape.name.empty()) return bad_request(fmt::format("line {} has no name", number));
  return shape;
}

}  // namespace

Result<std::vector<SuiteShape>> parse_suite(std::string_view csv) {
  const std::string_view header = next_line(csv);
  if (header != kHeader) {
    return bad_request(
        fmt::format("the first line is {}; it must be {}", in_quotes(header), kHeader));
  }
  std::vector<SuiteShape> shapes;
  std::set<std::string> names;
  for (int number = 2; !csv.empty(); ++number) {
    const std::string_view line = next_line(csv);
    if (line.empty()) continue;
    Result<SuiteShape> shape = parse_shape(line, number);
    if (!shape) return std::unexpected(shape.error());
    if (!names.insert(shape->name).second) {
      return bad_request(
          fmt::format("line {}: the name {} stands twice", number, in_quotes(shape->name)));
    }
    shapes.push_back(std::move(*shape));
  }
  if (shapes.empty()) return bad_request("it has no shape");
  return shapes;
}

Result<Suite> read_suite(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kSuiteBytes);
  if (!text) return std::unexpected(text.error());
  Result<std::vector<SuiteShape>> shapes = parse_suite(*text);
  if (!shapes) {
    return bad_request(fmt::format("{}: {}", in_quotes(path), shapes.error().message));
  }
  return Suite{std::filesystem::path(path).stem().string(), std::move(*shapes)};
}

}  // namespace tilewise
