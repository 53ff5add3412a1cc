// A schedule as a query: "kernel=square_tile&tile=block:128x128x8&tile=thread:8x8&stages=2".
//
//   name kernel device note      texts
//   tile=LEVEL:MxNxK             again for each level, from the outside in; "thread:8x8x0/2x2" is
//                                in 2 x 2 strided pieces; "none" is no tile at all
//   cluster=MxN  stages=N  copy=direct|cp_async|bulk
//   vector=G,A,B                 bytes of an access: global, shared_a, shared_b
//   layout=plain|pad:N|swizzle:N
//   order=KIND, KIND:GROUP or KIND:GROUP:AXIS
//   split=WAYS or WAYS:second_pass|atomic
//   stream_k persistent swap_ab  0 or 1
//   consumers=cooperative|ping_pong  promote=N (0: plain)  compute=NAME
#pragma once

#include "io/json_writer.h"
#include "tilewise/schedule.h"
#include "web/query.h"

namespace tilewise::web {

// Whether a schedule reads this name.
[[nodiscard]] bool is_schedule_field(std::string_view name);

// What may be chosen: {"fields": [every name above], "copy": ["direct", ...], ...}, for an editor.
void write_schedule_choices(JsonWriter& w);

// The fields that differ from a default schedule. apply_schedule(schedule_query(s), {}) is s.
[[nodiscard]] Query schedule_query(const Schedule& schedule);

// `base` with the fields of the query in place of its own: one tile replaces all of them. Checked
// by validate(). Errors: the field, its value and the rule.
[[nodiscard]] Result<Schedule> apply_schedule(const Query& query, Schedule base);

}  // namespace tilewise::web
