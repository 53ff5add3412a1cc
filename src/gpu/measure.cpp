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

Result<void> synchronize(CuStream stream) {
  return check((*driver())->call.stream_synchronize(stream), "cuStreamSynchronize");
}

}  // namespace

ResultCheck check_samples(std::int64_t samples) {
  return [samples](const Problem& problem, const Schedule& schedule,
                   const RotatedOperands& operands) -> Result<MeasuredError> {
    const auto first = operands[0];
    const auto product =
        sample_product(problem, first.a, first.b, first.d, sample_elements(problem, samples));
    if (!product) return std::unexpected(product.error());
    return compare(problem, schedule.promote_every, *product);
  };
}

Result<RotatedOperands> RotatedOperands::create(const Problem& p, std::uint64_t seed,
                                                const GpuDevice& device, CuStream stream) {
  RotatedOperands operands;
  operands.a_.bytes = round_up(extent_bytes(p.a, p.m, p.k, p.batch, p.type_a));
  operands.b_.bytes = round_up(extent_bytes(p.b, p.k, p.n, p.batch, p.type_b));
  operands.d_.bytes = round_up(extent_bytes(p.d, p.m, p.n, p.batch, p.type_d));
  operands.copies_ =
      std::min(num_rotations(operands.a_.bytes + operands.b_.bytes, device.l2_bytes), kMaxCopies);
  Result<void> done;
  const auto allocate = [&](Rotated& rotated) {
    if (!done) return;
    auto allocated =
        DeviceBuffer::allocate(static_cast<std::size_t>(rotated.bytes * operands.copies_));
    if (allocated) {
      rotated.buffer = std::move(*allocated);
    } else {
      done = std::unexpected(allocated.error());
    }
  };
  std::uint64_t next_seed = 2 * seed;
  const auto fill = [&](Rotated& rotated, Type type, std::uint64_t its_seed) {
    allocate(rotated);
    if (done) done = fill_normal(type, rotated.buffer, its_seed, stream);
  };
  fill(operands.a_, p.type_a, next_seed);
  fill(operands.b_, p.type_b, next_seed + 1);
  allocate(operands.d_);
  // Seeds far from those of A and B, whatever the seed.
  constexpr std::uint64_t kEpilogueSeed = std::uint64_t{1} << 62;
  if (p.epilogue.reads_c()) {
    operands.c_.bytes = round_up(extent_bytes(p.c, p.m, p.n, p.batch, p.type_c));
    fill(operands.c_, p.type_c, kEpilogueSeed + next_seed);
  }
  for (int i = 0; i < p.epilogue.num_operands; ++i) {
    const EpilogueOperand& o = p.epilogue.operands[static_cast<std::size_t>(i)];
    Rotated rotated;
    rotated.bytes = round_up(extent_bytes(o.strides, o.index_m ? p.m : 1, o.index_n ? p.n : 1,
                                          o.index_b ? p.batch : 1, o.type));
    fill(rotated, o.type, kEpilogueSeed + next_seed + 1 + static_cast<std::uint64_t>(i));
    operands.others_.push_back(std::move(rotated));
  }
  if (done) done = synchronize(stream);
  if (!done) return std::unexpected(done.error());
  return operands;
}

RotatedOperands::Pointers RotatedOperands::operator[](std::int64_t launch) const {
  const std::int64_t copy = launch % copies_;
  const auto at = [&](const Rotated& rotated) -> void* {
    if (rotated.buffer.data() == nullptr) return nullptr;
    return static_cast<char*>(rotated.buffer.data()) + copy * rotated.bytes;
  };
  Pointers pointers{at(a_), at(b_), at(c_), at(d_), {}};
  for (const Rotated& other : others_) pointers.others.push_back(at(other));
  return pointers;
}

Result<RotatedOperands::HostCopy> RotatedOperands::first_copy() const {
  HostCopy copy;
  Result<void> done;
  const auto download = [&](const Rotated& rotated) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(rotated.bytes));
    if (done) done = rotated.buffer.copy_to_host(bytes.data(), bytes.size());
    return bytes;
  };
  copy.c = download(c_);
  copy.d = download(d_);
  for (const Rotated& other : others_) copy.others.push_back(download(other));
  if (!done) return std::unexpected(done.error());
  return copy;
}

Result<Measurement> measure(const Problem& problem, const Schedule& schedule,
                            const RotatedOperands& operands, CuStream stream,
                            const TimingOptions& options, const ResultCheck& check) {
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
    arguments.c = at.c;
    arguments.d = at.d;
    arguments.operands = at.others;
    arguments.workspace = {static_cast<std::byte*>(workspace->data()), workspace->bytes()};
    arguments.stream = stream;
    return (*plan)->run(arguments);
  };
  if (auto ok = operands.spoil_results(); !ok) return std::unexpected(ok.error());
  if (auto ok = launch(0); !ok) return std::unexpected(ok.error());
  if (auto ok = synchronize(stream); !ok) return std::unexpected(ok.error());
  const auto error = check(problem, m.schedule, operands);
  if (!error) return std::unexpected(error.error());
  m.error = *error;
  const auto time = time_launches(stream, launch, options);
  if (!time) return std::unexpected(time.error());
  m.time = *time;
  m.tflops = tflops_of(problem, m.time);
  m.state = card_state((*plan)->device()).value_or(CardState{});
  return m;
}

Result<RivalMeasurement> measure_cublaslt(const Problem& problem, const RotatedOperands& operands,
                                          CuStream stream, const TimingOptions& options,
                                          std::int64_t samples) {
  const auto product = CublasLtProduct::create(problem);
  if (!product) return std::unexpected(product.error());
  const auto time_of = [&](std::size_t algorithm, const TimingOptions& how) {
    const auto launch = [&](std::int64_t at) {
      const auto pointers = operands[at];
      return product->enqueue(algorithm, pointers.a, pointers.b, pointers.d, stream);
    };
    return time_launches(stream, launch, how);
  };
  TimingOptions trial = options;  // enough to choose by
  trial.batches = std::min(options.batches, 3);
  std::size_t fastest = 0;
  double fastest_us = 0;
  for (std::size_t i = 0; i < product->num_algorithms(); ++i) {
    const auto time = time_of(i, trial);
    if (!time) return std::unexpected(time.error());
    if (i > 0 && time->median_us >= fastest_us) continue;
    fastest = i;
    fastest_us = time->median_us;
  }
  RivalMeasurement best;
  best.name = "cublaslt";
  best.version = (*cublaslt())->version;
  best.kernel = product->describe(fastest);
  const auto time = time_of(fastest, options);
  if (!time) return std::unexpected(time.error());
  best.time = *time;
  best.tflops = tflops_of(problem, best.time);
  const auto error = check_samples(samples)(problem, Schedule{}, operands);
  if (!error) return std::unexpected(error.error());
  best.error = *error;
  return best;
}

}  // namespace tilewise::gpu
