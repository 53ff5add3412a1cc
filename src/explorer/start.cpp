#include "explorer/start.h"

#include "tilewise/machine.h"
#include "web/request.h"
#include "web/schedule_query.h"

namespace tilewise::explorer {
namespace {

// A named schedule by its name, another one field by field, from nothing.
Result<void> add_schedule(web::Query& query, const Schedule& schedule) {
  const Result<Schedule> named = find_schedule(schedule.name);
  if (named && *named == schedule) {
    query.add("schedule", schedule.name);
    return {};
  }
  if (named) {
    return bad_request("explore: a schedule of a file has the name of another one; rename it");
  }
  query.add("schedule", web::kCustomSchedule);
  const web::Query fields = web::schedule_query(schedule);
  for (const auto& [name, value] : fields.items()) query.add(name, value);
  if (schedule.tiles.empty()) query.add("tile", "none");
  return {};
}

}  // namespace

Result<std::string> start_state(const Start& start) {
  web::Query query;
  if (start.sizes) {
    query.add("m", (*start.sizes)[0]);
    query.add("n", (*start.sizes)[1]);
    query.add("k", (*start.sizes)[2]);
  }
  if (auto done = add_schedule(query, start.schedule); !done) return std::unexpected(done.error());
  query.add("type", start.dtype);
  query.add("machine", start.machine);
  web::Library library;
  library.schedules.assign(named_schedules().begin(), named_schedules().end());
  library.machines.assign(named_machines().begin(), named_machines().end());
  const auto request = web::parse_request(query.text(), library);
  if (!request) return std::unexpected(request.error());
  return query.text();
}

}  // namespace tilewise::explorer
