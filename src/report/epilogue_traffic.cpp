#include "report/epilogue_traffic.h"

#include <fmt/format.h>

#include "io/text_table.h"

namespace tilewise {

EpilogueCost epilogue_cost_of(const Problem& p) {
  EpilogueShape shape;
  shape.m = p.m;
  shape.n = p.n;
  shape.batch = p.batch;
  shape.type_c = p.type_c;
  shape.type_d = p.type_d;
  shape.c_is_shared = p.c.batch == 0;
  return epilogue_cost(p.epilogue, shape);
}

std::string epilogue_cost_text(const Problem& p) {
  if (p.epilogue.is_identity()) return {};
  const EpilogueCost cost = epilogue_cost_of(p);
  std::string text =
      fmt::format("  epilogue adds {} when fused", readable_bytes(cost.fused_bytes.to_double()));
  if (cost.passes == 0) return text + '\n';
  return text + fmt::format("; as {} pass{} of its own it would move {}, {} more\n", cost.passes,
                            cost.passes == 1 ? "" : "es",
                            readable_bytes(cost.unfused_bytes.to_double()),
                            readable_bytes(cost.saved_bytes.to_double()));
}

void write_epilogue_cost(JsonWriter& w, const Problem& p) {
  w.key("epilogue_cost");
  if (p.epilogue.is_identity()) return w.null();
  const EpilogueCost cost = epilogue_cost_of(p);
  w.begin_object(JsonWriter::Layout::line);
  w.member("fused_bytes", cost.fused_bytes);
  w.member("passes", cost.passes);
  w.member("unfused_bytes", cost.unfused_bytes);
  w.member("saved_bytes", cost.saved_bytes);
  w.end_object();
}

}  // namespace tilewise
