#include "report/bench_suite.h"

#include <fmt/format.h>

#include "cpu/cpu_count.h"
#include "io/matrix.h"
#include "report/normal_values.h"
#include "report/openblas.h"
#include "report/run_product.h"
#include "schedule/bulk_copy.h"

namespace tilewise {
namespace {

// Random streams: A, B, C and then the operands of the epilogue.
constexpr std::uint64_t kStreamA = 0, kStreamB = 1, kStreamC = 2, kFirstOperandStream = 16;

Problem problem_of(const SuiteShape& shape, const BenchOptions& options) {
  Problem p = make_problem(shape.m, shape.n, shape.k, options.type);
  p.batch = shape.batch;
  set_operand_layout(p, options.layout);
  p.a.batch = shape.m * shape.k;
  p.b.batch = shape.k * shape.n;
  p.d.batch = shape.m * shape.n;
  p.c = p.d;
  p.epilogue = options.epilogue;
  set_contiguous_operands(p.epilogue, shape.m, shape.n);
  for (EpilogueOperand& operand : p.epilogue.operands) operand.type = options.type;
  return p;
}

// Bytes of A, B, C, D and the D of what is timed beside, of all batches, or an error where they do
// not fit memory.
Result<void> check_fits(const SuiteShape& shape, const BenchOptions& options) {
  // Without batches first: their strides are products of sizes that may not fit 63 bits.
  Result<void> valid = validate(make_problem(shape.m, shape.n, shape.k, options.type));
  if (valid) valid = validate(problem_of(shape, options));
  if (!valid) {
    return bad_request(fmt::format("shape \"{}\": {}", shape.name, valid.error().message));
  }
  const auto elements = [&](std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(shape.batch) * static_cast<double>(rows) *
           static_cast<double>(columns);
  };
  const double bytes =
      size_bytes(options.type) *
      (elements(shape.m, shape.k) + elements(shape.k, shape.n) + 3 * elements(shape.m, shape.n));
  const std::int64_t available = available_memory_bytes();
  if (bytes <= static_cast<double>(available)) return {};
  return out_of_memory(
      fmt::format("shape \"{}\" takes {:.0f} bytes, and {} bytes of memory are free "
                  "here; leave large shapes out with --max-gflop",
                  shape.name, bytes, available));
}

struct Operands {
  Matrix a, b, c, d;
  Matrix spare_d;  // of what is timed beside
  std::vector<Matrix> others;
  std::vector<const void*> pointers;
};

Result<void> fill(Operands& operands, const Problem& p, const BenchOptions& options) {
  const auto make = [&](std::int64_t rows, std::int64_t columns, std::uint64_t stream,
                        Matrix& matrix) -> Result<void> {
    Result<Matrix> made =
        normal_matrix(rows, columns, options.type, options.seed, stream, "an operand");
    if (!made) return std::unexpected(made.error());
    matrix = std::move(*made);
    return {};
  };
  Result<void> done = make(p.batch * p.m, p.k, kStreamA, operands.a);
  if (done) done = make(p.batch * p.k, p.n, kStreamB, operands.b);
  if (done && p.epilogue.reads_c()) done = make(p.batch * p.m, p.n, kStreamC, operands.c);
  operands.others.resize(p.epilogue.num_operands);
  for (std::size_t i = 0; done && i < operands.others.size(); ++i) {
    const EpilogueOperand& operand = p.epilogue.operands[i];
    done = make((operand.index_b ? p.batch : 1) * (operand.index_m ? p.m : 1),
                operand.index_n ? p.n : 1, kFirstOperandStream + i, operands.others[i]);
    operands.pointers.push_back(operands.others[i].data);
  }
  if (!done) return done;
  const auto bytes = p.batch * p.m * p.n * size_bytes(p.type_d);
  for (Matrix* matrix : {&operands.d, &operands.spare_d}) {
    const Result<std::shared_ptr<void>> d = allocate_bytes(bytes, "the result");
    if (!d) return std::unexpected(d.error());
    matrix->owner = *d;
    matrix->data = d->get();
  }
  return {};
}

BenchRow row_of(const Suite& suite, const SuiteShape& shape, const BenchOptions& options,
                const Problem& p, const ProductReport& report) {
  constexpr double kMicroseconds = 1e6;
  BenchRow row;
  row.suite = suite.name;
  row.name = shape.name;
  row.m = shape.m;
  row.n = shape.n;
  row.k = shape.k;
  row.batch = shape.batch;
  row.dtype = to_string(options.type);
  row.layout = options.layout;
  row.compute = to_string(p.compute);
  row.epilogue = options.epilogue_text;
  row.schedule = report.schedule.name;
  row.device = to_string(report.device);
  row.threads = report.threads;
  row.time_us = report.seconds * kMicroseconds;
  row.low_us = report.low_seconds * kMicroseconds;
  row.high_us = report.high_seconds * kMicroseconds;
  row.tflops = report.gflops / 1e3;
  row.share_of_peak = report.share_of_peak;
  if (report.verification.mode != VerifyMode::none) row.verified = report.verification.passed();
  row.max_error = report.verification.worst_error();
  row.error_bound = report.verification.worst.expected.error;
  if (report.power_w > 0) row.power_w = report.power_w;
  if (report.clock_mhz > 0) row.clock_mhz = report.clock_mhz;
  return row;
}

// The buffers that fill() owns.
void* writable(const Matrix& matrix) { return const_cast<void*>(matrix.data); }

// The same product without its epilogue.
Result<Beside> without_epilogue(const Problem& p, const Operands& operands,
                                const BenchOptions& options) {
  Problem plain = p;
  plain.epilogue = Epilogue();
  const Result<Plan> plan = prepare(plain, options.schedule, host_machine(), options.prepare);
  if (!plan) return std::unexpected(plan.error());
  return Beside{.run = [plan = *plan, &operands] {
    return plan.run(operands.a.data, operands.b.data, nullptr, writable(operands.spare_d));
  }};
}

Result<Beside> by_openblas(const OpenBlas& blas, const Problem& p, const Operands& operands,
                           const BenchOptions& options) {
  constexpr double kPauseS = 0.15;  // its idle threads spin for about 0.1 s
  if (const Result<void> ok = OpenBlas::check(p); !ok) return std::unexpected(ok.error());
  const int threads = options.prepare.threads > 0 ? options.prepare.threads : cpu::usable_cpus();
  return Beside{.run = [&blas, p, &operands, threads]() -> Result<void> {
                  blas.multiply(p, threads, operands.a.data, operands.b.data,
                                writable(operands.spare_d));
                  return {};
                },
                .pause_s = threads > 1 ? kPauseS : 0};
}

void add_beside(BenchRow& row, const OpenBlas* blas, const ProductReport& report) {
  constexpr double kMicroseconds = 1e6;
  for (const double seconds : report.beside_seconds) {
    if (blas == nullptr) {
      row.without_epilogue_us = seconds * kMicroseconds;
    } else {
      const double tflops = row.tflops > 0 ? row.tflops * report.seconds / seconds : 0;
      row.rivals.push_back(
          {"openblas", blas->version(), blas->kernel(), seconds * kMicroseconds, tflops});
    }
  }
}

Result<BenchRow> measure(const Suite& suite, const SuiteShape& shape, const BenchOptions& options,
                         const OpenBlas* blas) {
  const Problem p = problem_of(shape, options);
  Operands operands;
  if (const Result<void> done = fill(operands, p, options); !done) {
    return std::unexpected(done.error());
  }
  ProductRequest request;
  request.problem = p;
  request.schedule = options.schedule;
  request.prepare = options.prepare;
  request.verify = options.verify;
  request.seed = options.seed;
  request.repeat_for_s = options.repeat_for_s;
  request.a = operands.a.data;
  request.b = operands.b.data;
  request.c = operands.c.data;
  request.d = writable(operands.d);
  request.operands = operands.pointers;
  if (options.progress) {
    request.progress = [&](std::string_view stage, double fraction) {
      options.progress(fmt::format("{}: {}", shape.name, stage), fraction);
    };
  }
  const bool on_cpu = options.prepare.device == Device::cpu;
  if (on_cpu && (blas != nullptr || !p.epilogue.is_identity())) {
    const Result<Beside> beside = blas != nullptr ? by_openblas(*blas, p, operands, options)
                                                  : without_epilogue(p, operands, options);
    if (!beside) return std::unexpected(beside.error());
    request.beside.push_back(*beside);
  }
  const Result<ProductReport> report = run_product(request);
  if (!report) return std::unexpected(report.error());
  BenchRow row = row_of(suite, shape, options, p, *report);
  add_beside(row, blas, *report);
  return row;
}

}  // namespace

Result<std::vector<BenchRow>> run_suite(const Suite& suite, const BenchOptions& options) {
  for (const SuiteShape& shape : suite.shapes) {
    if (const Result<void> fits = check_fits(shape, options); !fits) {
      return std::unexpected(fits.error());
    }
  }
  std::optional<OpenBlas> blas;
  if (options.beside_openblas) {
    const Result<OpenBlas> opened = OpenBlas::open();
    if (!opened) return std::unexpected(opened.error());
    blas = *opened;
  }
  std::vector<BenchRow> rows;
  for (const SuiteShape& shape : suite.shapes) {
    const Result<BenchRow> row = measure(suite, shape, options, blas ? &*blas : nullptr);
    if (!row) return std::unexpected(row.error());
    if (options.done) options.done(*row);
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace tilewise
