#include "tilewise/traffic.h"

#include "schedule/names.h"

namespace tilewise {
namespace {

constexpr NameTable<Operand> kOperands[] = {
    {Operand::a, "a"},
    {Operand::b, "b"},
    {Operand::c, "c"},
    {Operand::d, "d"},
    {Operand::epilogue, "epilogue"},
    {Operand::workspace, "workspace"},
};
constexpr NameTable<Direction> kDirections[] = {{Direction::read, "read"},
                                                {Direction::write, "write"}};
constexpr NameTable<Quantity> kQuantities[] = {{Quantity::elements, "elements"},
                                               {Quantity::issued, "issued"},
                                               {Quantity::units, "units"},
                                               {Quantity::bytes, "bytes"}};

}  // namespace

std::string_view to_string(Operand operand) { return name_of(kOperands, operand); }
std::string_view to_string(Direction direction) { return name_of(kDirections, direction); }
std::string_view to_string(Quantity quantity) { return name_of(kQuantities, quantity); }

std::string Count::to_string() const {
  if (overflowed_) return "overflow";
  if (value_ == 0) return "0";
  std::string digits;
  for (uint128 rest = value_; rest != 0; rest /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  return digits;
}

Count Traffic::reads(std::string_view level) const {
  return value(level, Operand::a, Direction::read, Quantity::elements) +
         value(level, Operand::b, Direction::read, Quantity::elements);
}

Count Traffic::value(std::string_view level, Operand operand, Direction direction,
                     Quantity quantity) const {
  Count sum;
  for (const TrafficRow& row : rows) {
    if (row.level == level && row.operand == operand && row.direction == direction &&
        row.quantity == quantity) {
      sum += row.value;
    }
  }
  return sum;
}

}  // namespace tilewise
