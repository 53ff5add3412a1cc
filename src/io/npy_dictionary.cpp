#include "io/npy_dictionary.h"

#include <fmt/format.h>

#include <charconv>

#include "io/wording.h"

namespace tilewise {
namespace {

constexpr std::size_t kMostDimensions = 64;  // NumPy's own limit

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<NpyDictionary> run() {
    bool seen_descr = false, seen_order = false, seen_shape = false;
    if (!take('{')) return expected("a dictionary in braces");
    while (!take('}')) {
      const Result<std::string> key = read_string();
      if (!key) return std::unexpected(key.error());
      if (!take(':')) return expected("a colon after a key");
      Result<void> value;
      if (*key == "descr") {
        value = once(seen_descr, *key, read_descr());
      } else if (*key == "fortran_order") {
        value = once(seen_order, *key, read_boolean());
      } else if (*key == "shape") {
        value = once(seen_shape, *key, read_shape());
      } else {
        return bad_request(fmt::format("its header has the unknown key {}", in_quotes(*key)));
      }
      if (!value) return std::unexpected(value.error());
      if (!take(',') && !at('}')) return expected("a comma or a closing brace");
    }
    skip_space();
    if (!rest().empty()) return expected("nothing after the dictionary");
    if (!seen_descr || !seen_order || !seen_shape) {
      return bad_request("its header lacks one of descr, fortran_order and shape");
    }
    return std::move(result_);
  }

 private:
  std::string_view rest() const { return text_.substr(position_); }

  void skip_space() {
    while (position_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }
  bool at(char c) {
    skip_space();
    return position_ < text_.size() && text_[position_] == c;
  }
  bool take(char c) {
    if (!at(c)) return false;
    ++position_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!rest().starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  std::unexpected<Error> expected(std::string_view what) const {
    return bad_request(fmt::format("its header is malformed at byte {} of the text: {} is expected",
                                   position_, what));
  }

  static Result<void> once(bool& seen, std::string_view key, Result<void> value) {
    if (value && seen) return bad_request(fmt::format("its header gives {} twice", key));
    seen = true;
    return value;
  }

  Result<std::string> read_string() {
    const char quote = at('"') ? '"' : '\'';
    if (!take(quote)) return expected("a quoted string");
    const std::size_t end = rest().find(quote);
    if (end == std::string_view::npos) return expected("a closing quote");
    std::string value(rest().substr(0, end));
    position_ += end + 1;
    return value;
  }

  Result<void> read_descr() {
    if (at('[') || at('(') || at('{')) {
      return bad_request("its element type is structured; plain numbers are read");
    }
    Result<std::string> value = read_string();
    if (!value) return std::unexpected(value.error());
    result_.descr = std::move(*value);
    return {};
  }

  Result<void> read_boolean() {
    if (take_word("True")) {
      result_.fortran_order = true;
    } else if (!take_word("False")) {
      return expected("True or False");
    }
    return {};
  }

  Result<void> read_shape() {
    result_.shape.clear();
    if (!take('(')) return expected("a shape in parentheses");
    while (!take(')')) {
      if (result_.shape.size() == kMostDimensions) return expected("a shorter shape");
      skip_space();
      std::int64_t extent = 0;
      const std::string_view digits = rest();
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), extent);
      if (error != std::errc() || extent < 0) return expected("an extent of 0 to 2^63 - 1");
      position_ += static_cast<std::size_t>(end - digits.data());
      take('L');  // written by Python 2
      result_.shape.push_back(extent);
      if (!take(',') && !at(')')) return expected("a comma or a closing parenthesis");
    }
    return {};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  NpyDictionary result_;
};

}  // namespace

Result<NpyDictionary> parse_npy_dictionary(std::string_view text) { return Parser(text).run(); }

}  // namespace tilewise
