#include <algorithm>

#include "parts/order.cuh"
#include "tilewise/block_order.h"
#include "tilewise/estimate.h"
#include "web/answer.h"
#include "web/schedule_query.h"

namespace tilewise::web {
namespace {

constexpr std::int64_t kMostTiles = 1 << 14;  // that are listed for the drawing
constexpr auto kLine = JsonWriter::Layout::line;

// One order: where each cluster lies, and what each wave has read from DRAM.
Result<void> write_order(JsonWriter& w, BlockGrid grid, const Order& order, double capacity,
                         std::int64_t tiles_m, std::int64_t tiles_n) {
  grid.order = order;
  const auto traffic = block_traffic(grid, capacity);
  if (!traffic) return std::unexpected(traffic.error());
  const auto waves = dram_by_wave(grid, capacity);
  if (!waves) return std::unexpected(waves.error());
  w.begin_object();
  w.member("kind", to_string(order.kind));
  w.member("group", order.group);
  w.member("waves", traffic->waves);
  w.member("dram_bytes", traffic->dram);
  w.member("wave_only_bytes", traffic->wave_only);
  w.key("dram_by_wave");
  w.begin_array(kLine);
  for (const double bytes : *waves) w.value(bytes);
  w.end_array();
  w.key("tiles");  // row * tiles_n + column, in order of launch
  w.begin_array(kLine);
  for (std::int64_t i = 0; i < tiles_m * tiles_n; ++i) {
    const TilePosition at =
        block_tile(static_cast<int>(order.kind), order.group, static_cast<int>(order.axis),
                   static_cast<int>(tiles_m), static_cast<int>(tiles_n), static_cast<int>(i));
    w.value(at.m * tiles_n + at.n);
  }
  w.end_array();
  w.end_object();
  return {};
}

Result<std::vector<Order>> read_orders(const Query& query) {
  std::vector<Order> orders;
  const std::string_view text = query.has("orders") ? query.value("orders") : "row";
  for (const std::string_view item : split(text, ',')) {
    Query one;
    one.add("order", item);
    const auto schedule = apply_schedule(one, Schedule{});
    if (!schedule) return std::unexpected(schedule.error());
    orders.push_back(schedule->order);
    if (orders.size() > 6) return bad_request("orders: at most 6 are compared at a time");
  }
  return orders;
}

}  // namespace

Answer answer_order(const Request& r) {
  if (r.machine->device != Device::gpu) {
    return bad_request("the launch order of blocks matters on a GPU; machine \"" + r.machine->name +
                       "\" is a CPU");
  }
  if (auto ok = check_matrix_bytes(r.problem); !ok) return std::unexpected(ok.error());
  const auto e = estimate(r.problem, r.schedule, *r.machine, false);
  if (!e) return std::unexpected(e.error());
  const auto orders = read_orders(r.query);
  if (!orders) return std::unexpected(orders.error());
  const BlockGrid& grid = e->grid;
  const std::int64_t together = std::int64_t{grid.cluster.m} * grid.cluster.n;
  const Count tiles_m = ceil_div(grid.m, grid.block_m * grid.cluster.m);
  const Count tiles_n = ceil_div(grid.n, grid.block_n * grid.cluster.n);
  if (!(tiles_m * tiles_n <= Count(kMostTiles))) {
    return bad_request("the grid has " + (tiles_m * tiles_n).to_string() +
                       (together > 1 ? " clusters" : " blocks") +
                       ", and at most 16384 are drawn; take a larger block or a smaller C");
  }
  const auto rows = static_cast<std::int64_t>(tiles_m.raw());
  const auto columns = static_cast<std::int64_t>(tiles_n.raw());
  const auto traffic = block_traffic(grid, 0, false);
  if (!traffic) return std::unexpected(traffic.error());
  JsonWriter w;
  w.begin_object();
  w.member("machine", r.machine->name);
  w.member("units", r.machine->num_units);
  w.member("slots", grid.slots);
  w.member("clusters_at_once", std::max<std::int64_t>(grid.slots / together, 1));
  w.member("tiles_m", rows);  // of clusters
  w.member("tiles_n", columns);
  w.member("cluster_m", grid.cluster.m);
  w.member("cluster_n", grid.cluster.n);
  w.member("blocks_m", ceil_div(grid.m, grid.block_m).to_string());  // that have an output
  w.member("blocks_n", ceil_div(grid.n, grid.block_n).to_string());
  w.member("ways", grid.split_ways);  // the grid is launched again for each part of K
  w.member("stream_k", r.schedule.stream_k);
  w.member("block_m", grid.block_m);
  w.member("block_n", grid.block_n);
  w.member("capacity_bytes", e->dram_capacity_bytes);
  w.member("minimum_bytes", traffic->minimum.to_string());
  w.member("delivered_bytes", traffic->delivered.to_string());
  w.member("lookup_bytes", traffic->lookups.to_string());
  w.member("best_group",
           best_group(std::max<std::int64_t>(grid.slots, 1), grid.block_m, grid.block_n));
  w.key("orders");
  w.begin_array();
  for (const Order& order : *orders) {
    const auto done =
        write_order(w, grid, order, static_cast<double>(e->dram_capacity_bytes), rows, columns);
    if (!done) return std::unexpected(done.error());
  }
  w.end_array();
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
