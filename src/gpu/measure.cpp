#include "gpu/measure.h"

#include <algorithm>
#include <chrono>

#include "gpu/cublaslt.h"

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kCopyAlignment = 256;
constexpr std::int64_t kMaxCopies = 1024;

// Bytes from the first element to the end of the last.
std::int64_t extent_bytes(const Strides& s, std::int64_t rows, std::int64_t columns,
                          std::int64_t batch, Type type) {
  if (rows == 0 || columns == 0 || batch == 0) return 0;
  const std::int64_t last = (rows - 1) * s.row + (columns - 1) * s.column + (batch - 1) * s.batch;
  return (last + 1) * size_bytes(type);
}

std::int64_t round_up(std::int64_t bytes) {
  return (bytes + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
}

double tflops_of(const Problem& problem, const Timing& time) {
  return time.median_us > 0 ? num_flops(problem) / time.median_us * 1e-6 : 0;
}

Result<MeasuredError> check_results(const Problem& problem, int promote_every,
                                    const RotatedOperands& operands, std::int64_t samples) {
  const auto first = operands[0];
  const auto product =
      sample_product(problem, first.a, first.b, first.d, sample_elements(problem, samples));
  if (!product) return std::unexpected(product.error());
  return compare(problem, promote_every, *product);
}

Result<void> synchronize(CuStream stream) {
  return check((*driver())->call.stream_synchronize(stream), "cuStreamSynchronize");
}

}  // namespace

Result<RotatedOperands> RotatedOperands::create(const Problem& p, std::uint64_t seed,
                                                const GpuDevice& device, CuStream stream) {
  RotatedOperands operands;
  operands.a_bytes_ = round_up(extent_bytes(p.a, p.m, p.k, p.batch, p.type_a));
  operands.b_bytes_ = round_up(extent_bytes(p.b, p.k, p.n, p.batch, p.type_b));
  operands.d_bytes_ = round_up(extent_bytes(p.d, p.m, p.n, p.batch, p.type_d));
  operands.copies_ =
      std::min(num_rotations(operands.a_bytes_ + operands.b_bytes_, device.l2_bytes), kMaxCopies);
  const auto allocate = [&](DeviceBuffer& buffer, std::int64_t bytes) -> Result<void> {
    auto allocated = DeviceBuffer::allocate(static_cast<std::size_t>(bytes * operands.copies_));
    if (!allocated) return std::unexpected(allocated.error());
    buffer = std::move(*allocated);
    return {};
  };
  if (auto ok = allocate(operands.a_, operands.a_bytes_); !ok) return std::unexpected(ok.error());
  if (auto ok = allocate(operands.b_, operands.b_bytes_); !ok) return std::unexpected(ok.error());
  if (auto ok = allocate(operands.d_, operands.d_bytes_); !ok) return std::unexpected(ok.error());
  if (auto ok = fill_normal(p.type_a, operands.a_, 2 * seed, stream); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = fill_normal(p.type_b, operands.b_, 2 * seed + 1, stream); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = synchronize(stream); !ok) return std::unexpected(ok.error());
  return operands;
}

RotatedOperands::Pointers RotatedOperands::operator[](std::int64_t launch) const {
  const std::int64_t copy = launch % copies_;
  const auto at = [&](const DeviceBuffer& buffer, std::int64_t bytes) {
    return static_cast<char*>(buffer.data()) + copy * bytes;
  };
  return {at(a_, a_bytes_), at(b_, b_bytes_), at(d_, d_bytes_)};
}

Result<Measurement> measure(const Problem& problem, const Schedule& schedule,
                            const RotatedOperands& operands, CuStream stream,
                            const TimingOptions& options, std::int64_t samples) {
  const auto begin = std::chrono::steady_clock::now();
  const auto plan = make_plan(problem, &schedule);
  if (!plan) return std::unexpected(plan.error());
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;

  Measurement m;
  m.schedule = (*plan)->description().schedule;
  m.origin = (*plan)->origin();
  m.prepare_ms = taken.count();
  const LoadedKernel& kernel = (*plan)->kernel();
  m.resources = kernel.compiled().resources;
  m.launch = kernel.launch();
  const auto blocks = kernel.blocks_per_sm((*plan)->device());
  if (!blocks) return std::unexpected(blocks.error());
  m.blocks_per_sm = *blocks;
  m.occupancy = static_cast<double>(*blocks) * m.launch.threads / (*plan)->device().threads_per_sm;

  auto workspace = DeviceBuffer::allocate((*plan)->description().workspace_bytes);
  if (!workspace) return std::unexpected(workspace.error());
  const auto launch = [&](std::int64_t i) -> Result<void> {
    const auto at = operands[i];
    RunArguments arguments;
    arguments.a = at.a;
    arguments.b = at.b;
    arguments.d = at.d;
    arguments.workspace = {static_cast<std::byte*>(workspace->data()), workspace->bytes()};
    arguments.stream = stream;
    return (*plan)->run(arguments);
  };
  if (auto ok = operands.spoil_results(); !ok) return std::unexpected(ok.error());
  if (auto ok = launch(0); !ok) return std::unexpected(ok.error());
  if (auto ok = synchronize(stream); !ok) return std::unexpected(ok.error());
  const auto error = check_results(problem, m.schedule.promote_every, operands, samples);
  if (!error) return std::unexpected(error.error());
  m.error = *error;
  const auto time = time_launches(stream, launch, options);
  if (!time) return std::unexpected(time.error());
  m.time = *time;
  m.tflops = tflops_of(problem, m.time);
  return m;
}

Result<RivalMeasurement> measure_cublaslt(const Problem& problem, const RotatedOperands& operands,
                                          CuStream stream, const TimingOptions& options,
                                          std::int64_t samples) {
  const auto product = CublasLtProduct::create(problem);
  if (!product) return std::unexpected(product.error());
  RivalMeasurement best;
  best.name = "cublaslt";
  best.version = (*cublaslt())->version;
  for (std::size_t i = 0; i < product->num_algorithms(); ++i) {
    const auto launch = [&](std::int64_t at) {
      const auto pointers = operands[at];
      return product->enqueue(i, pointers.a, pointers.b, pointers.d, stream);
    };
    const auto time = time_launches(stream, launch, options);
    if (!time) return std::unexpected(time.error());
    if (best.tflops != 0 && time->median_us >= best.time.median_us) continue;
    best.time = *time;
    best.tflops = tflops_of(problem, *time);
    best.kernel = product->describe(i);
  }
  const auto error = check_results(problem, 0, operands, samples);
  if (!error) return std::unexpected(error.error());
  best.error = *error;
  return best;
}

}  // namespace tilewise::gpu
