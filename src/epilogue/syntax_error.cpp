#include "epilogue/syntax_error.h"

#include <algorithm>

namespace tilewise {
namespace {

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& ch : result) {
    if (ch == '\n' || ch == '\t' || ch == '\r') ch = ' ';
    if (ch < ' ' || ch > '~') ch = '?';
  }
  return result;
}

}  // namespace

Error syntax_error(std::string_view text, std::size_t position, std::string_view what) {
  constexpr std::size_t kBefore = 48, kAfter = 24;
  constexpr std::string_view kIndent = "\n    ", kCut = "...";
  const std::size_t first = position > kBefore ? position - kBefore : 0;
  const std::size_t end = std::min(text.size(), position + kAfter);
  std::string message = "epilogue: ";
  message += what;
  message += " at position " + std::to_string(position + 1);
  message += kIndent;
  if (first > 0) message += kCut;
  message += printable(text.substr(first, end - first));
  if (end < text.size()) message += kCut;
  message += kIndent;
  message.append((first > 0 ? kCut.size() : 0) + position - first, ' ');
  message += '^';
  return Error{ErrorCode::bad_request, std::move(message)};
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  return printable(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

}  // namespace tilewise
