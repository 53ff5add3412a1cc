#include "io/json_writer.h"

#include <cstddef>

namespace tilewise {
namespace {

constexpr std::string_view kReplacement = "\\ufffd";

// Length of the valid UTF-8 sequence at the start of text (not empty), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and code points past U+10FFFF.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

std::string escape_control(unsigned char c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  return std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
}

}  // namespace

std::string escape_json(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    std::size_t length = utf8_length(text);
    if (length == 0) {
      escaped += kReplacement;
      length = 1;
    } else if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += text.front();
    } else if (c < 0x20 || c == 0x7F) {
      escaped += escape_control(c);
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return escaped;
}

void JsonWriter::break_line() {
  text_ += '\n';
  text_.append(2 * open_.size(), ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (open_.empty()) return;
  Open& top = open_.back();
  if (!top.empty) text_ += top.layout == Layout::line ? ", " : ",";
  if (top.layout == Layout::block) break_line();
  top.empty = false;
}

void JsonWriter::begin(char bracket, Layout layout) {
  separate();
  text_ += bracket;
  const bool in_line = !open_.empty() && open_.back().layout == Layout::line;
  open_.push_back({in_line ? Layout::line : layout});
}

void JsonWriter::end(char bracket) {
  const Open closed = open_.back();
  open_.pop_back();
  if (closed.layout == Layout::block && !closed.empty) break_line();
  text_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  separate();
  text_ += '"' + escape_json(name) + "\": ";
  after_key_ = true;
}

void JsonWriter::append_scalar(std::string_view text) {
  separate();
  text_ += text;
}

void JsonWriter::value(std::string_view text) { append_scalar('"' + escape_json(text) + '"'); }
void JsonWriter::value(Count count) {
  append_scalar(count.overflowed() ? "null" : count.to_string());
}
void JsonWriter::value(double number) { append_scalar(shortest_json(number)); }
void JsonWriter::value(bool truth) { append_scalar(truth ? "true" : "false"); }

std::string JsonWriter::finish() && {
  text_ += '\n';
  return std::move(text_);
}

}  // namespace tilewise
