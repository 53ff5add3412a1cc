#include "model.h"

#include <nanobind/ndarray.h>

#include <span>

#include "convert.h"
#include "errors.h"
#include "tilewise/bounds.h"
#include "tilewise/machine.h"
#include "tilewise/mma.h"
#include "tilewise/report.h"
#include "tilewise/simulate.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Tiles = std::optional<std::vector<std::string>>;
using Name = std::optional<std::string>;

std::span<const double> span_of(const Values& values) { return {values.data(), values.size()}; }

nb::ndarray<nb::numpy, double> owned_array(std::vector<double> values,
                                           std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return {kept->data(), shape.size(), shape.begin(), owner};
}

// The problem that the model's verbs speak of: dense, row-major, one type.
Problem dense_problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& type,
                      const Name& compute, std::int64_t batch, const Name& epilogue) {
  Problem p = make_problem(m, n, k, value_or_raise(parse_type(type)));
  if (compute) p.compute = value_or_raise(parse_compute(*compute));
  if (batch != 1) {
    p.batch = batch;
    p.a.batch = m * k;
    p.b.batch = k * n;
    p.c.batch = p.d.batch = m * n;
  }
  if (epilogue) {
    p.epilogue = value_or_raise(parse_epilogue(*epilogue));
    set_contiguous_operands(p.epilogue, m, n);
  }
  return p;
}

nb::dict count(nb::handle m, nb::handle n, nb::handle k, const Name& schedule_name,
               const Tiles& tiles, const std::string& type, nb::handle batch,
               const Name& epilogue) {
  const Schedule schedule = schedule_of(schedule_name, tiles, "naive");
  const Problem problem =
      dense_problem(integer(m, "count", "m"), integer(n, "count", "n"), integer(k, "count", "k"),
                    type, std::nullopt, integer(batch, "count", "batch"), epilogue);
  const CountReport report = value_or_raise(count_levels(problem, schedule));
  nb::dict d;
  d["m"] = problem.m;
  d["n"] = problem.n;
  d["k"] = problem.k;
  d["batch"] = problem.batch;
  d["element_bytes"] = size_bytes(problem.type_a);
  d["schedule"] = schedule.name;
  d["naive"] = to_python(report.naive);
  d["tiled"] = to_python(report.tiled);
  d["minimum"] = to_python(report.minimum);
  d["flops"] = to_python(report.flops);
  d["phases"] = report.phases;
  d["blocks"] = to_python(report.blocks);
  nb::list levels;
  for (std::size_t i = 0; i < report.levels.size(); ++i) {
    const LevelCount& level = report.levels[i];
    nb::dict l;
    l["level"] = to_string(level.level);
    l["reads_from"] = reads_from(schedule, i);
    l["m"] = level.m;
    l["n"] = level.n;
    l["k"] = level.k;
    l["reads_a"] = to_python(level.reads_a);
    l["reads_b"] = to_python(level.reads_b);
    l["reads"] = to_python(level.reads);
    l["reuse_a"] = level.reuse_a;
    l["reuse_b"] = level.reuse_b;
    l["intensity"] = level.intensity;
    levels.append(l);
  }
  d["levels"] = levels;
  d["rows"] = to_python(value_or_raise(tilewise::count(problem, schedule)));
  return d;
}

// a (m, k), b (k, n), c (m, n) and the operands, all dense float64; type: f32 or f64.
nb::dict simulate(const Values& a, const Values& b, const std::optional<Values>& c,
                  const nb::dict& operands, const Name& schedule_name, const Tiles& tiles,
                  const std::string& type, const Name& epilogue) {
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape(1) != b.shape(0)) {
    raise(PyExc_ValueError,
          "simulate: a is (m, k) and b (k, n); the columns of a must be as many "
          "as the rows of b");
  }
  const Schedule schedule = schedule_of(schedule_name, tiles, "shared_tile");
  Problem problem =
      dense_problem(static_cast<std::int64_t>(a.shape(0)), static_cast<std::int64_t>(b.shape(1)),
                    static_cast<std::int64_t>(a.shape(1)), type, std::nullopt, 1, epilogue);
  std::vector<Values> kept;
  std::vector<std::span<const double>> spans;
  for (int i = 0; i < problem.epilogue.num_operands; ++i) {
    const std::string name(problem.epilogue.operands[static_cast<std::size_t>(i)].name_view());
    if (!operands.contains(name.c_str())) {
      raise(PyExc_ValueError,
            "simulate: the epilogue names " + name + ", and operands has no such entry");
    }
    kept.push_back(nb::cast<Values>(operands[name.c_str()]));
    spans.push_back(span_of(kept.back()));
  }
  auto result = [&] {
    const nb::gil_scoped_release unlocked;
    return tilewise::simulate(problem, schedule, span_of(a), span_of(b),
                              c ? span_of(*c) : std::span<const double>(), spans);
  }();
  Simulation s = value_or_raise(std::move(result));
  const CountReport counted = value_or_raise(count_levels(problem, schedule));
  bool equal = s.levels.size() == counted.levels.size();
  nb::list levels;
  for (std::size_t i = 0; i < s.levels.size(); ++i) {
    nb::dict l;
    l["level"] = to_string(s.levels[i].level);
    l["reads_a"] = s.levels[i].reads_a;
    l["reads_b"] = s.levels[i].reads_b;
    levels.append(l);
    equal = equal && Count(s.levels[i].reads_a) == counted.levels[i].reads_a &&
            Count(s.levels[i].reads_b) == counted.levels[i].reads_b;
  }
  nb::dict d;
  d["d"] = owned_array(std::move(s.d), {a.shape(0), b.shape(1)});
  d["schedule"] = schedule.name;
  d["global_reads"] = s.global_reads;
  d["shared_reads"] = s.shared_reads;
  d["writes"] = s.writes;
  d["multiply_adds"] = s.multiply_adds;
  d["phases"] = s.phases;
  d["blocks"] = s.blocks;
  d["equals_count"] = equal;
  d["levels"] = levels;
  d["rows"] = to_python(s.traffic);
  return d;
}

nb::dict simulate_barriers(const Values& a, const Values& b, const Name& schedule_name,
                           const Tiles& tiles, int missing) {
  const Schedule schedule = schedule_of(schedule_name, tiles, "shared_tile");
  const Problem problem =
      make_problem(static_cast<std::int64_t>(a.shape(0)), static_cast<std::int64_t>(b.shape(1)),
                   static_cast<std::int64_t>(a.shape(1)));
  if (missing < 0 || missing > 2) {
    raise(PyExc_ValueError, "simulate: without_barrier is " + std::to_string(missing) +
                                "; valid are 1 (after the load) and 2 (after the use)");
  }
  BarrierReport r = value_or_raise(tilewise::simulate_barriers(
      problem, schedule, span_of(a), span_of(b), static_cast<MissingBarrier>(missing)));
  nb::dict d;
  d["without_barrier"] = missing;
  d["wrong_elements"] = r.wrong_elements;
  d["max_error"] = r.max_error;
  d["first_fault"] = r.first_fault;
  d["d"] = owned_array(std::move(r.d), {a.shape(0), b.shape(1)});
  d["expected"] = owned_array(std::move(r.expected), {a.shape(0), b.shape(1)});
  return d;
}

nb::dict to_dict(const Bound& b) {
  nb::dict d;
  d["name"] = b.name;
  d["formula"] = b.formula;
  d["elements"] = b.elements;
  d["is_floor"] = b.is_floor;
  d["counts"] = b.counts;
  d["source"] = b.source;
  d["note"] = b.note;
  return d;
}

nb::dict to_dict(const SegmentArgument& s) {
  nb::dict d;
  d["name"] = s.name;
  d["transfers"] = s.transfers;
  d["elements"] = s.elements;
  d["products"] = s.products;
  d["segments"] = s.segments;
  d["at_least"] = s.at_least;
  return d;
}

nb::dict to_dict(const ResidentSchedule& s) {
  nb::dict d;
  d["resident"] = to_string(s.resident);
  d["rows"] = s.rows;
  d["columns"] = s.columns;
  d["reads_a"] = to_python(s.reads_a);
  d["reads_b"] = to_python(s.reads_b);
  d["reads_c"] = to_python(s.reads_c);
  d["writes_c"] = to_python(s.writes_c);
  d["moved"] = to_python(s.moved);
  d["memory"] = s.memory;
  return d;
}

nb::dict bound(nb::handle m, nb::handle n, nb::handle k, nb::handle fast_memory,
               nb::handle memories, bool updated, bool reads_only) {
  const BoundQuestion q{.m = integer(m, "bound", "m"),
                        .n = integer(n, "bound", "n"),
                        .k = integer(k, "bound", "k"),
                        .fast_memory = integer(fast_memory, "bound", "fast_memory"),
                        .memories = integer(memories, "bound", "memories"),
                        .output = updated ? Output::updated : Output::created,
                        .counted = reads_only ? Counted::reads : Counted::reads_and_writes};
  const BoundReport r = value_or_raise(tilewise::bound(q));
  nb::dict d;
  d["m"] = q.m;
  d["n"] = q.n;
  d["k"] = q.k;
  d["fast_memory"] = q.fast_memory;
  d["memories"] = q.memories;
  d["output"] = to_string(q.output);
  d["counted"] = to_string(q.counted);
  d["compared"] = r.compared;
  d["compulsory"] = to_python(r.compulsory);
  d["floor"] = r.floor;
  d["bounds"] = list_of(r.bounds, [](const Bound& b) { return to_dict(b); });
  d["segments"] = list_of(r.segments, [](const SegmentArgument& s) { return to_dict(s); });
  d["schedules"] = list_of(r.schedules, [](const ResidentSchedule& s) { return to_dict(s); });
  return d;
}

nb::dict mma(nb::handle m, nb::handle n, nb::handle k, const std::string& shape) {
  const MmaShape parsed = value_or_raise(parse_mma_shape(shape));
  const MmaCount c = value_or_raise(
      mma_count(integer(m, "mma", "m"), integer(n, "mma", "n"), integer(k, "mma", "k"), parsed));
  nb::dict d;
  d["m"] = m;
  d["n"] = n;
  d["k"] = k;
  d["shape"] = to_string(c.shape);
  d["padded_m"] = to_python(c.padded_m);
  d["padded_n"] = to_python(c.padded_n);
  d["padded_k"] = to_python(c.padded_k);
  d["instructions"] = to_python(c.instructions);
  d["utilization"] = c.utilization;
  return d;
}

nb::dict mma_layout(const std::string& shape) {
  const MmaLayout layout =
      value_or_raise(tilewise::mma_layout(value_or_raise(parse_mma_shape(shape))));
  nb::dict d;
  d["shape"] = to_string(layout.shape);
  d["title"] = layout.title;
  d["fragments"] = list_of(layout.fragments, [](const FragmentLayout& f) {
    nb::dict l;
    l["operand"] = f.operand;
    l["rows"] = f.rows;
    l["columns"] = f.columns;
    l["threads"] = f.threads;
    l["elements_per_thread"] = f.elements_per_thread;
    l["holders"] = list_of(
        f.holders, [](const FragmentHolder& h) { return nb::make_tuple(h.thread, h.element); });
    return l;
  });
  return d;
}

nb::dict simulate_mma(const Values& a, const Values& b, const std::string& shape) {
  if (a.ndim() != 2 || b.ndim() != 2 || a.shape(1) != b.shape(0)) {
    raise(PyExc_ValueError,
          "simulate_mma: a is (m, k) and b (k, n); the columns of a must be as "
          "many as the rows of b");
  }
  const MmaShape parsed = value_or_raise(parse_mma_shape(shape));
  MmaSimulation s = value_or_raise(tilewise::simulate_mma(
      static_cast<std::int64_t>(a.shape(0)), static_cast<std::int64_t>(b.shape(1)),
      static_cast<std::int64_t>(a.shape(1)), span_of(a), span_of(b), parsed));
  nb::dict d;
  d["shape"] = to_string(parsed);
  d["instructions"] = s.instructions;
  d["products_formed"] = s.products_formed;
  d["products_useful"] = s.products_useful;
  d["d"] = owned_array(std::move(s.d), {a.shape(0), b.shape(1)});
  return d;
}

nb::dict to_dict(const LevelEstimate& level) {
  nb::dict d;
  d["level"] = level.level;
  d["reads_from"] = level.memory;
  d["m"] = level.m;
  d["n"] = level.n;
  d["k"] = level.k;
  d["reads"] = to_python(level.reads);
  d["bytes"] = level.bytes;
  d["bound_bytes"] = level.bound_bytes;
  d["intensity"] = level.intensity;
  d["ridge"] = level.ridge;
  return d;
}

nb::dict to_dict(const Alternative& a) {
  nb::dict d;
  d["what"] = a.what;
  d["time_us"] = a.time_us;
  d["limiter"] = a.limiter;
  return d;
}

// The facts of one block on a GPU; a CPU has none of them.
nb::object block_of(const Report& r) {
  if (r.machine.device != Device::gpu) return nb::none();
  const Estimate& e = r.estimate;
  nb::dict d;
  d["m"] = e.footprint.block_m;
  d["n"] = e.footprint.block_n;
  d["k"] = e.footprint.block_k;
  d["threads"] = e.footprint.block.threads;
  d["shared_bytes"] = e.footprint.block.shared_bytes;
  d["registers_per_thread"] = e.footprint.block.registers_per_thread;
  d["blocks_per_sm"] = e.occupancy.blocks_per_sm;
  d["occupancy"] = e.occupancy.occupancy;
  d["occupancy_limiter"] = e.occupancy.limiter;
  d["tiles"] = to_python(e.waves.tiles);
  d["waves"] = to_python(e.waves.waves);
  d["wave_efficiency"] = e.waves.efficiency;
  d["padding_efficiency"] = e.padding_efficiency;
  return d;
}

nb::dict explain(nb::handle m, nb::handle n, nb::handle k, const std::string& type,
                 const Name& compute, nb::handle batch, const Name& epilogue,
                 const std::string& machine_name, const Name& schedule_name, const Tiles& tiles) {
  const Problem problem = dense_problem(integer(m, "explain", "m"), integer(n, "explain", "n"),
                                        integer(k, "explain", "k"), type, compute,
                                        integer(batch, "explain", "batch"), epilogue);
  const Machine machine =
      machine_name == "host" ? host_machine() : value_or_raise(find_machine(machine_name));
  std::optional<Schedule> schedule;
  if (schedule_name || tiles) schedule = schedule_of(schedule_name, tiles, "");
  const Report r = value_or_raise([&] {
    const nb::gil_scoped_release unlocked;
    return tilewise::explain(problem, schedule ? &*schedule : nullptr, machine);
  }());
  const Estimate& e = r.estimate;
  nb::dict d;
  d["m"] = problem.m;
  d["n"] = problem.n;
  d["k"] = problem.k;
  d["batch"] = problem.batch;
  d["dtype"] = to_string(problem.type_a);
  d["compute"] = to_string(problem.compute);
  d["machine"] = r.machine.name;
  d["schedule"] = r.schedule.name;
  d["chosen"] = r.chosen;
  d["time_us"] = e.time_us;
  d["tflops"] = e.tflops;
  d["peak_tflops"] = e.peak_tflops;
  d["limiter"] = e.limiter;
  d["limiter_sentence"] = r.limiter;
  d["remedy"] = r.remedy;
  d["arithmetic"] = to_string(e.arithmetic);
  d["peak"] = e.peak.peak;
  d["ridge"] = e.ridge;
  d["dram_bound_bytes"] = e.dram_bound_bytes;
  d["terms"] = list_of(e.terms, [](const TimeTerm& term) {
    nb::dict t;
    t["name"] = term.name;
    t["time_us"] = term.time_us;
    t["how"] = term.how;
    return t;
  });
  d["levels"] = list_of(e.levels, [](const LevelEstimate& l) { return to_dict(l); });
  d["memories"] = list_of(e.memories, [](const LevelEstimate& l) { return to_dict(l); });
  d["rows"] = to_python(e.traffic);
  d["block"] = block_of(r);
  d["schedules"] = list_of(r.schedules, [](const Alternative& a) { return to_dict(a); });
  d["changes"] = list_of(r.changes, [](const Alternative& a) { return to_dict(a); });
  d["notes"] = e.notes;
  d["text"] = report_text(r);
  d["svg"] = report_svg(r);
  return d;
}

nb::list schedules() {
  return list_of(named_schedules(), [](const Schedule& s) { return nb::str(to_json(s).c_str()); });
}

nb::list machines() {
  nb::list list =
      list_of(named_machines(), [](const Machine& m) { return nb::str(to_json(m).c_str()); });
  list.append(nb::str(to_json(host_machine()).c_str()));
  return list;
}

std::string check_schedule(const std::string& json) {
  return to_json(value_or_raise(parse_schedule(json)));
}

}  // namespace

void add_model(nb::module_& m) {
  m.def("count", &count);
  m.def("simulate", &simulate, nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("operands"),
        nb::arg("schedule").none(), nb::arg("tiles").none(), nb::arg("type"),
        nb::arg("epilogue").none());
  m.def("simulate_barriers", &simulate_barriers);
  m.def("bound", &bound);
  m.def("mma", &mma);
  m.def("mma_layout", &mma_layout);
  m.def("simulate_mma", &simulate_mma);
  m.def("explain", &explain);
  m.def("schedules", &schedules);
  m.def("machines", &machines);
  m.def("check_schedule", &check_schedule);
}

}  // namespace tilewise::python
