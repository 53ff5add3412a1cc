// Writes JSON: exact integers of any length, doubles that read back to the same bits, valid UTF-8.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewise/count.h"

namespace tilewise {

// Builds one document in memory. Objects and arrays opened with Layout::block put each member on
// its own line; those opened with Layout::line, and all inside them, stay on one line.
//
//     JsonWriter w;
//     w.begin_object();
//     w.member("schema", "tilewise.count/1");
//     w.key("tiles"); w.begin_array(); ... w.end_array();
//     w.end_object();
//     std::string text = std::move(w).finish();
class JsonWriter {
 public:
  enum class Layout : std::uint8_t { block, line };

  void begin_object(Layout layout = Layout::block) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_array(Layout layout = Layout::block) { begin('[', layout); }
  void end_array() { end(']'); }

  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(Count count);    // bare digits; null when overflowed, which callers report before
  void value(double number);  // shortest form that reads back equal; null when not finite
  void value(bool truth);
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  void value(I number) {
    append_scalar(std::to_string(number));
  }
  void null() { append_scalar("null"); }

  template <class T>
  void member(std::string_view name, const T& item) {
    key(name);
    value(item);
  }

  // The text, ended by one newline.
  [[nodiscard]] std::string finish() &&;

 private:
  struct Open {
    Layout layout;
    bool empty = true;
  };

  void begin(char bracket, Layout layout);
  void end(char bracket);
  void separate();  // comma, line break and indentation before the next item
  void break_line();
  void append_scalar(std::string_view text);

  std::string text_;
  std::vector<Open> open_;
  bool after_key_ = false;
};

// The text between the quotes of a JSON string. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string escape_json(std::string_view text);

// Shortest decimal text that reads back to the same double; "null" when not finite.
[[nodiscard]] std::string shortest_json(double number);

}  // namespace tilewise
