// bench and ladder: what this machine reaches.
#include "convert.h"
#include "errors.h"
#include "model.h"
#include "tilewise/bench.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

nb::dict to_dict(const Measured& r) {
  nb::dict d;
  d["name"] = r.name;
  d["m"] = r.m;
  d["n"] = r.n;
  d["k"] = r.k;
  d["batch"] = r.batch;
  d["schedule"] = r.schedule;
  d["device"] = r.device;
  d["threads"] = r.threads;
  d["time_us"] = r.time_us;
  d["low_us"] = r.low_us;
  d["high_us"] = r.high_us;
  d["tflops"] = r.tflops;
  d["share_of_peak"] = r.share_of_peak;
  d["verified"] = r.verified ? nb::cast(*r.verified) : nb::none();
  d["max_error"] = r.max_error;
  d["error_bound"] = r.error_bound;
  d["ratio"] = r.ratio;
  return d;
}

// shapes: (name, m, n, k, batch) each.
nb::list bench(const nb::list& shapes, const std::string& type, const std::string& layout,
               const std::string& epilogue, const std::optional<std::string>& schedule_name,
               int threads, std::uint64_t seed, double repeat_for_s) {
  BenchQuestion question;
  for (const nb::handle shape : shapes) {
    const auto fields = nb::cast<nb::tuple>(shape);
    question.shapes.push_back({nb::cast<std::string>(fields[0]), integer(fields[1], "bench", "m"),
                               integer(fields[2], "bench", "n"), integer(fields[3], "bench", "k"),
                               integer(fields[4], "bench", "batch")});
  }
  if (layout != "nn" && layout != "nt" && layout != "tn" && layout != "tt") {
    raise(PyExc_ValueError, "bench: layout is \"" + layout + "\"; valid are nn, nt, tn and tt");
  }
  question.type = value_or_raise(parse_type(type));
  question.transpose_a = layout[0] == 't';
  question.transpose_b = layout[1] == 't';
  question.epilogue = epilogue;
  std::optional<Schedule> schedule;
  if (schedule_name) schedule = schedule_of(schedule_name, std::nullopt, "");
  question.schedule = schedule ? &*schedule : nullptr;
  question.threads = threads;
  question.seed = seed;
  question.repeat_for_s = repeat_for_s;
  const auto rows = value_or_raise([&] {
    const nb::gil_scoped_release unlocked;
    return tilewise::bench(question);
  }());
  return list_of(rows, [](const Measured& row) { return to_dict(row); });
}

nb::dict ladder(nb::handle m, nb::handle n, nb::handle k, const std::string& type,
                const std::optional<std::string>& compute,
                const std::vector<std::string>& schedules, bool against_cublaslt,
                std::uint64_t seed) {
  LadderQuestion question;
  Problem& p = question.problem;
  p = make_problem(integer(m, "ladder", "m"), integer(n, "ladder", "n"), integer(k, "ladder", "k"),
                   value_or_raise(parse_type(type)));
  if (compute) p.compute = value_or_raise(parse_compute(*compute));
  if (size_bytes(p.type_a) == 1) {  // FP8: operands contiguous along K, a wider result
    p.type_c = p.type_d = Type::bf16;
    p.b = {1, p.k, 0};
  }
  for (const std::string& name : schedules) {
    question.schedules.push_back(schedule_of(name, std::nullopt, ""));
  }
  question.against_cublaslt = against_cublaslt;
  question.seed = seed;
  const LadderMeasured r = value_or_raise([&] {
    const nb::gil_scoped_release unlocked;
    return measure_ladder(question);
  }());
  nb::dict d;
  d["card"] = r.card;
  d["peak_tflops"] = r.peak_tflops;
  d["peak_source"] = r.peak_source;
  d["rows"] = list_of(r.rows, [](const Measured& row) { return to_dict(row); });
  d["rival"] = r.rival ? nb::object(to_dict(*r.rival)) : nb::none();
  d["skipped"] = r.skipped;
  return d;
}

}  // namespace

void add_measurements(nb::module_& m) {
  m.def("bench", &bench);
  m.def("ladder", &ladder);
}

}  // namespace tilewise::python
