// The readers of schedules and machines. A text is either refused with a message, or what it says
// is valid, is written and read back equal, and can be counted, in elements and in units.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tilewise/machine.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"
#include "tilewise/units.h"

namespace {

using namespace tilewise;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_message(const Error& error) {
  require(error.code == ErrorCode::bad_request);
  require(!error.message.empty() && error.message.size() < 4000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Schedule> schedule = parse_schedule(text);
  if (schedule) {
    require(validate(*schedule).has_value());
    require(parse_schedule(to_json(*schedule)) == *schedule);
    const Result<CountReport> counted = count_levels(make_problem(1000, 77, 3), *schedule);
    if (!counted) require_message(counted.error());
    const Result<Traffic> units = count_units(make_problem(1000, 77, 3), *schedule);
    if (!units) require_message(units.error());
  } else {
    require_message(schedule.error());
  }
  const Result<Machine> machine = parse_machine(text);
  if (machine) {
    require(parse_machine(to_json(*machine)) == *machine);
  } else {
    require_message(machine.error());
  }
  return 0;
}
