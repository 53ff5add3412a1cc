#include "web/query.h"

#include <charconv>

namespace tilewise::web {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      result += ' ';
    } else if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return bad_request("the address has a % that two hexadecimal digits do not follow");
      }
      result += static_cast<char>(16 * high + low);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kPlain = "-_.:,/|*";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       kPlain.find(c) != kPlain.npos;
    if (plain) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return result;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::int64_t> whole_number(std::string_view what, std::string_view text, std::int64_t low,
                                  std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size() && !text.empty();
  if (whole && value >= low && value <= high) return value;
  return bad_request(std::string(what) + " is \"" + std::string(text.substr(0, 40)) +
                     "\"; it must be a whole number from " + std::to_string(low) + " to " +
                     std::to_string(high));
}

Result<Query> Query::parse(std::string_view text) {
  if (text.size() > kMostBytes) {
    return bad_request("the address is " + std::to_string(text.size()) + " bytes long; at most " +
                       std::to_string(kMostBytes) + " are read");
  }
  Query query;
  if (text.starts_with('?') || text.starts_with('#')) text.remove_prefix(1);
  for (const std::string_view item : split(text, '&')) {
    if (item.empty()) continue;
    const auto equals = item.find('=');
    auto name = decoded(item.substr(0, equals));
    auto value = decoded(equals == item.npos ? std::string_view() : item.substr(equals + 1));
    if (!name) return std::unexpected(name.error());
    if (!value) return std::unexpected(value.error());
    query.items_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

bool Query::has(std::string_view name) const {
  for (const auto& item : items_) {
    if (item.first == name) return true;
  }
  return false;
}

std::string_view Query::value(std::string_view name) const {
  std::string_view found;
  for (const auto& item : items_) {
    if (item.first == name) found = item.second;
  }
  return found;
}

std::vector<std::string_view> Query::values(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& item : items_) {
    if (item.first == name) found.emplace_back(item.second);
  }
  return found;
}

Result<std::int64_t> Query::integer(std::string_view name, std::int64_t low, std::int64_t high,
                                    std::int64_t absent) const {
  if (!has(name)) return absent;
  return whole_number(name, value(name), low, high);
}

std::string Query::text() const {
  std::string result;
  for (const auto& [name, value] : items_) {
    if (!result.empty()) result += '&';
    result += escaped(name) + '=' + escaped(value);
  }
  return result;
}

}  // namespace tilewise::web
