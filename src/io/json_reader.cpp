#include "io/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/wording.h"

namespace tilewise {
namespace {

using nlohmann::json;

// A first pass that builds nothing: finds syntax errors with their place, keys given twice and
// nesting beyond the limit.
class Checker : public nlohmann::json_sax<json> {
 public:
  explicit Checker(int depth) : depth_left_(depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    problem = fmt::format("the key {} stands twice in one object", in_quotes(name));
    return false;
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    error_position = position;
    return false;
  }

  std::string problem;
  std::size_t error_position = 0;  // 1-based count of bytes read

 private:
  bool enter() {
    keys_.emplace_back();
    if (depth_left_-- > 0) return true;
    problem = "objects and arrays are nested too deeply";
    return false;
  }
  bool leave() {
    keys_.pop_back();
    ++depth_left_;
    return true;
  }

  int depth_left_;
  std::vector<std::set<std::string>> keys_;
};

std::string place(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position > 0 ? position - 1 : 0);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == before.npos ? before.size() + 1 : before.size() - start;
  return fmt::format("line {}, column {}", line, column);
}

}  // namespace

Result<json> parse_json(std::string_view text, std::string_view what, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return bad_request(fmt::format("{} is {} bytes of JSON; at most {} are read", what, text.size(),
                                   limits.bytes));
  }
  Checker checker(limits.depth);
  if (!json::sax_parse(text, &checker)) {
    if (!checker.problem.empty()) {
      return bad_request(fmt::format("{} is not valid: {}", what, checker.problem));
    }
    return bad_request(fmt::format("{} is not valid JSON: error at {}", what,
                                   place(text, checker.error_position)));
  }
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return bad_request(fmt::format("{} is not valid JSON", what));
  return value;
}

std::string shown(const json& value) {
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

ObjectReader::ObjectReader(const json& value, std::string path)
    : value_(value), path_(std::move(path)) {
  if (!value_.is_object()) {
    error_ = Error{ErrorCode::bad_request,
                   fmt::format("{} is {}; it must be an object", path_, shown(value_))};
  }
}

std::string ObjectReader::path_of(std::string_view name) const {
  return fmt::format("{}.{}", path_, name);
}

const json* ObjectReader::find(std::string_view name) {
  known_.push_back(name);
  if (failed()) return nullptr;
  const auto member = value_.find(name);
  return member == value_.end() ? nullptr : &*member;
}

void ObjectReader::fail_with(Error error) {
  if (!failed()) error_ = std::move(error);
}

void ObjectReader::fail(std::string_view name, std::string rule) {
  if (failed()) return;
  const auto member = value_.find(name);
  const std::string given = member == value_.end() ? "absent" : shown(*member);
  fail_with({ErrorCode::bad_request, fmt::format("{} is {}; {}", path_of(name), given, rule)});
}

void ObjectReader::require(std::string_view name) {
  if (failed()) return;
  const auto member = value_.find(name);
  const bool given = member != value_.end() &&
                     !(member->is_string() && member->get_ref<const std::string&>().empty());
  if (!given) fail(name, "it must be given");
}

std::string ObjectReader::string(std::string_view name, std::string_view absent) {
  const json* member = find(name);
  if (member == nullptr) return std::string(absent);
  if (!member->is_string()) {
    fail(name, "it must be a string");
    return std::string(absent);
  }
  return member->get<std::string>();
}

std::int64_t ObjectReader::integer(std::string_view name, std::int64_t low, std::int64_t high,
                                   std::int64_t absent) {
  const json* member = find(name);
  if (member == nullptr) return absent;
  const bool small_enough =
      !member->is_number_unsigned() ||
      member->get<std::uint64_t>() <= static_cast<std::uint64_t>(high < 0 ? 0 : high);
  if (member->is_number_integer() && small_enough) {
    const auto number = member->get<std::int64_t>();
    if (number >= low && number <= high) return number;
  }
  fail(name, fmt::format("it must be a whole number from {} to {}", low, high));
  return absent;
}

double ObjectReader::number(std::string_view name, double absent) {
  const json* member = find(name);
  if (member == nullptr) return absent;
  if (!member->is_number()) {
    fail(name, "it must be a number");
    return absent;
  }
  return member->get<double>();
}

bool ObjectReader::boolean(std::string_view name, bool absent) {
  const json* member = find(name);
  if (member == nullptr) return absent;
  if (!member->is_boolean()) {
    fail(name, "it must be true or false");
    return absent;
  }
  return member->get<bool>();
}

std::size_t ObjectReader::choice(std::string_view name, const std::vector<std::string_view>& names,
                                 std::size_t absent) {
  const json* member = find(name);
  if (member == nullptr) return absent;
  if (member->is_string()) {
    const auto& given = member->get_ref<const std::string&>();
    const auto match = std::find(names.begin(), names.end(), given);
    if (match != names.end()) return static_cast<std::size_t>(match - names.begin());
    fail(name, fmt::format("valid are {}{}", join_names(names), did_you_mean(given, names)));
    return absent;
  }
  fail(name, fmt::format("it must be one of {}", join_names(names)));
  return absent;
}

const json* ObjectReader::object(std::string_view name) {
  const json* member = find(name);
  if (member != nullptr && !member->is_object()) fail(name, "it must be an object");
  return failed() ? nullptr : member;
}

const json* ObjectReader::array(std::string_view name) {
  const json* member = find(name);
  if (member != nullptr && !member->is_array()) fail(name, "it must be an array");
  return failed() ? nullptr : member;
}

Result<void> ObjectReader::finish() {
  if (error_) return std::unexpected(*error_);
  for (const auto& [name, member] : value_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    return bad_request(fmt::format("{} has no field {}{} (fields: {})", path_, in_quotes(name),
                                   did_you_mean(name, known_), join_names(known_)));
  }
  return {};
}

}  // namespace tilewise
