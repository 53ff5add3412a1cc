// Exact counts: integers of up to 127 bits that remember an overflow instead of wrapping.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>

namespace tilewise {

__extension__ typedef unsigned __int128 uint128;

// A count of elements, bytes, instructions... from 0 to 2^127 - 1. An operation whose exact result
// does not fit yields a count for which overflowed() is true, and so does every operation on such a
// count: a formula is written plainly and checked once, at its end. Subtracting more than there is
// counts as an overflow too. Comparing an overflowed count is false but for !=.
class Count {
 public:
  constexpr Count() = default;
  template <std::integral I>
  constexpr Count(I value) : value_(static_cast<uint128>(value)) {  // NOLINT: implicit on purpose
    if constexpr (std::signed_integral<I>) {
      if (value < 0) overflowed_ = true;
    }
  }

  [[nodiscard]] static constexpr Count from_raw(uint128 value) {
    Count c;
    c.value_ = value;
    c.overflowed_ = value > kMax;
    return c;
  }
  [[nodiscard]] static constexpr Count overflow() {
    Count c;
    c.overflowed_ = true;
    return c;
  }

  [[nodiscard]] constexpr bool overflowed() const { return overflowed_; }
  [[nodiscard]] constexpr uint128 raw() const { return value_; }  // meaningless when overflowed
  [[nodiscard]] constexpr double to_double() const { return static_cast<double>(value_); }

  // Decimal digits, of any length; "overflow" when overflowed.
  [[nodiscard]] std::string to_string() const;

  friend constexpr Count operator+(Count x, Count y) {
    if (x.overflowed_ || y.overflowed_ || x.value_ > kMax - y.value_) return overflow();
    return from_raw(x.value_ + y.value_);
  }
  friend constexpr Count operator-(Count x, Count y) {
    if (x.overflowed_ || y.overflowed_ || y.value_ > x.value_) return overflow();
    return from_raw(x.value_ - y.value_);
  }
  friend constexpr Count operator*(Count x, Count y) {
    if (x.overflowed_ || y.overflowed_) return overflow();
    if (y.value_ != 0 && x.value_ > kMax / y.value_) return overflow();
    return from_raw(x.value_ * y.value_);
  }
  // Rounds down. Division by zero is an overflow.
  friend constexpr Count operator/(Count x, Count y) {
    if (x.overflowed_ || y.overflowed_ || y.value_ == 0) return overflow();
    return from_raw(x.value_ / y.value_);
  }
  constexpr Count& operator+=(Count y) { return *this = *this + y; }
  constexpr Count& operator*=(Count y) { return *this = *this * y; }

  friend constexpr bool operator==(Count x, Count y) {
    return !x.overflowed_ && !y.overflowed_ && x.value_ == y.value_;
  }
  friend constexpr std::partial_ordering operator<=>(Count x, Count y) {
    if (x.overflowed_ || y.overflowed_) return std::partial_ordering::unordered;
    return x.value_ <=> y.value_;
  }

 private:
  static constexpr uint128 kMax = ~static_cast<uint128>(0) >> 1;
  uint128 value_ = 0;
  bool overflowed_ = false;
};

[[nodiscard]] constexpr Count ceil_div(Count x, Count y) {
  const Count q = x / y;
  return q * y == x ? q : q + Count(1);
}

}  // namespace tilewise
