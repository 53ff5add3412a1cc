// The four exercises of the textbook, by its names and with its results.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>

#include "convert.h"
#include "errors.h"
#include "model.h"
#include "tilewise/mma.h"
#include "tilewise/simulate.h"
#include "tilewise/traffic.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

using InputMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::dict matmul_traffic(nb::handle m, nb::handle n, nb::handle k, nb::handle b) {
  constexpr const char* kName = "matmul_traffic";
  const MatmulTraffic traffic =
      value_or_raise(tilewise::matmul_traffic(integer(m, kName, "M"), integer(n, kName, "N"),
                                              integer(k, kName, "K"), integer(b, kName, "b")));
  nb::dict d;
  d["naive"] = to_python(traffic.naive);
  d["tiled"] = to_python(traffic.tiled);
  d["minimum"] = to_python(traffic.minimum);
  return d;
}

nb::tuple mma_count(nb::handle m, nb::handle n, nb::handle k, nb::handle shape_m,
                    nb::handle shape_n, nb::handle shape_k) {
  constexpr const char* kName = "mma_count";
  const auto extent = [&](nb::handle value, const char* name) {
    const std::int64_t number = integer(value, kName, name);
    if (number >= 1 && number <= INT32_MAX) return static_cast<int>(number);
    raise(PyExc_ValueError, std::string(kName) + ": " + name + " is " + std::to_string(number) +
                                "; the instruction's extents are 1 or more");
  };
  const MmaShape shape{extent(shape_m, "m"), extent(shape_n, "n"), extent(shape_k, "k")};
  const MmaCount count = value_or_raise(tilewise::mma_count(
      integer(m, kName, "M"), integer(n, kName, "N"), integer(k, kName, "K"), shape));
  return nb::make_tuple(to_python(count.instructions), count.utilization);
}

// a (m, k) and b (k, n) by tiles; is_f64: sums in double, else in float32.
nb::tuple simulate_tiles(const InputMatrix& a, const InputMatrix& b, bool is_f64,
                         const std::vector<Tile>& tiles, const char* name) {
  if (a.shape(1) != b.shape(0)) {
    raise(PyExc_ValueError, std::string(name) + ": A has " + std::to_string(a.shape(1)) +
                                " columns and B " + std::to_string(b.shape(0)) +
                                " rows; they must be as many");
  }
  const auto m = static_cast<std::int64_t>(a.shape(0)), n = static_cast<std::int64_t>(b.shape(1));
  const Problem problem =
      make_problem(m, n, static_cast<std::int64_t>(a.shape(1)), is_f64 ? Type::f64 : Type::f32);
  Schedule schedule;
  schedule.tiles = tiles;
  Simulation simulated = value_or_raise([&] {
    const nb::gil_scoped_release unlocked;
    return simulate(problem, schedule, {a.data(), a.size()}, {b.data(), b.size()});
  }());
  auto* values = new std::vector<double>(std::move(simulated.d));
  const nb::capsule owner(values,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  nb::dict reads;
  reads["global_reads"] = simulated.global_reads;
  reads["shared_reads"] = simulated.shared_reads;
  const std::size_t shape[] = {a.shape(0), b.shape(1)};
  return nb::make_tuple(nb::ndarray<nb::numpy, double>(values->data(), 2, shape, owner), reads);
}

std::int64_t tile_extent(nb::handle value, const char* function, const char* name) {
  const std::int64_t extent = integer(value, function, name);
  if (extent >= 1) return extent;
  raise(PyExc_ValueError, std::string(function) + ": " + name + " is " + std::to_string(extent) +
                              "; a tile is 1 wide or more");
}

nb::tuple tiled_matmul(const InputMatrix& a, const InputMatrix& b, nb::handle tile, bool is_f64) {
  const std::int64_t edge = tile_extent(tile, "tiled_matmul", "b");
  return simulate_tiles(a, b, is_f64, {{Level::block, edge, edge, edge}}, "tiled_matmul");
}

nb::tuple two_level_matmul(const InputMatrix& a, const InputMatrix& b, nb::handle block,
                           nb::handle thread, bool is_f64) {
  constexpr const char* kName = "two_level_matmul";
  const std::int64_t edge = tile_extent(block, kName, "b"), inner = tile_extent(thread, kName, "t");
  if (edge % inner != 0) {
    raise(PyExc_ValueError, std::string(kName) + ": t is " + std::to_string(inner) + " and b " +
                                std::to_string(edge) + "; t divides b");
  }
  return simulate_tiles(
      a, b, is_f64, {{Level::block, edge, edge, edge}, {Level::thread, inner, inner, 0}}, kName);
}

}  // namespace

void add_exercises(nb::module_& m) {
  m.def("matmul_traffic", &matmul_traffic);
  m.def("mma_count", &mma_count);
  m.def("tiled_matmul", &tiled_matmul);
  m.def("two_level_matmul", &two_level_matmul);
}

}  // namespace tilewise::python
