#include "report/run_gpu_product.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/power.h"
#include "gpu/reference.h"
#include "gpu/timing.h"
#include "report/card_peaks.h"
#include "report/element_check.h"

namespace tilewise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kStepsPerSecond = 2e10;  // of the reference on the device, a cautious figure
constexpr double kLeastSeconds = 0.05;
constexpr std::size_t kSamplesAtOnce = 1 << 20;
constexpr std::size_t kCopyAlignment = 256;
constexpr std::int64_t kMostCopies = 256;
constexpr double kDoubleRoundoff = 0x1p-53;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Bytes from element (0, 0) of batch 0 to the end of the last element.
std::size_t extent_bytes(const Strides& s, std::int64_t rows, std::int64_t columns,
                         std::int64_t batch, Type type) {
  if (rows == 0 || columns == 0 || batch == 0) return 0;
  const std::int64_t last = (rows - 1) * s.row + (columns - 1) * s.column + (batch - 1) * s.batch;
  return static_cast<std::size_t>((last + 1) * size_bytes(type));
}

// Whether D may be computed again: not where it is also an input.
bool may_repeat(const ProductRequest& request) {
  return request.c != request.d &&
         std::ranges::find(request.operands, request.d) == request.operands.end();
}

// One matrix in device memory, in several copies that launches use in turn, so that none is found
// in the L2.
class RotatedMatrix {
 public:
  [[nodiscard]] static Result<RotatedMatrix> upload(const void* from, std::size_t bytes,
                                                    std::int64_t copies) {
    RotatedMatrix matrix;
    if (from == nullptr || bytes == 0) return matrix;
    matrix.stride_ = (bytes + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
    matrix.copies_ = copies;
    auto buffer = gpu::DeviceBuffer::allocate(matrix.stride_ * static_cast<std::size_t>(copies));
    if (!buffer) return std::unexpected(buffer.error());
    matrix.buffer_ = std::move(*buffer);
    for (std::int64_t i = 0; i < copies; ++i) {
      const auto done =
          matrix.buffer_.copy_from_host(from, bytes, matrix.stride_ * static_cast<std::size_t>(i));
      if (!done) return std::unexpected(done.error());
    }
    return matrix;
  }
  [[nodiscard]] void* at(std::int64_t launch) const {
    if (buffer_.data() == nullptr) return nullptr;
    return static_cast<char*>(buffer_.data()) +
           stride_ * static_cast<std::size_t>(launch % copies_);
  }
  [[nodiscard]] Result<void> download(void* to, std::size_t bytes) const {
    return buffer_.copy_to_host(to, bytes);
  }

 private:
  gpu::DeviceBuffer buffer_;
  std::size_t stride_ = 0;
  std::int64_t copies_ = 1;
};

// The operands, in the order of Plan::run.
struct DeviceOperands {
  RotatedMatrix a, b, c, d;
  std::vector<RotatedMatrix> others;
  std::vector<bool> is_d;  // of the epilogue's operands
  std::size_t d_bytes = 0;
  bool c_is_d = false;

  [[nodiscard]] std::vector<const void*> pointers(std::int64_t launch) const {
    std::vector<const void*> all;
    for (std::size_t i = 0; i < others.size(); ++i) {
      all.push_back(is_d[i] ? d.at(launch) : others[i].at(launch));
    }
    return all;
  }
};

Result<DeviceOperands> upload_all(const ProductRequest& request, std::int64_t l2_bytes) {
  const Problem& p = request.problem;
  const std::size_t a_bytes = extent_bytes(p.a, p.m, p.k, p.batch, p.type_a);
  const std::size_t b_bytes = extent_bytes(p.b, p.k, p.n, p.batch, p.type_b);
  DeviceOperands on;
  on.d_bytes = extent_bytes(p.d, p.m, p.n, p.batch, p.type_d);
  on.c_is_d = request.c != nullptr && request.c == request.d;
  const bool repeats = may_repeat(request) && request.repeat_for_s > 0;
  const std::int64_t copies =
      !repeats ? 1
               : std::min(kMostCopies, gpu::num_rotations(
                                           static_cast<std::int64_t>(a_bytes + b_bytes), l2_bytes));
  Result<void> done;
  const auto add = [&](RotatedMatrix& matrix, const void* from, std::size_t bytes) {
    if (!done) return;
    auto uploaded = RotatedMatrix::upload(from, bytes, copies);
    if (uploaded) {
      matrix = std::move(*uploaded);
    } else {
      done = std::unexpected(uploaded.error());
    }
  };
  add(on.a, request.a, a_bytes);
  add(on.b, request.b, b_bytes);
  add(on.d, request.d, on.d_bytes);  // what lies between D's elements comes back as it was
  if (!on.c_is_d && p.epilogue.reads_c()) {
    add(on.c, request.c, extent_bytes(p.c, p.m, p.n, p.batch, p.type_c));
  }
  on.others.resize(request.operands.size());
  for (std::size_t i = 0; i < request.operands.size(); ++i) {
    const EpilogueOperand& o = p.epilogue.operands[i];
    on.is_d.push_back(request.operands[i] == request.d);
    if (on.is_d.back()) continue;
    add(on.others[i], request.operands[i],
        extent_bytes(o.strides, o.index_m ? p.m : 1, o.index_n ? p.n : 1, o.index_b ? p.batch : 1,
                     o.type));
  }
  if (!done) return std::unexpected(done.error());
  return on;
}

Result<void> time_runs(const Plan& plan, const ProductRequest& request, const DeviceOperands& on,
                       gpu::CuStream stream, ProductReport& report) {
  auto workspace = gpu::DeviceBuffer::allocate(plan.workspace_bytes());
  if (!workspace) return std::unexpected(workspace.error());
  const auto launch = [&](std::int64_t i) {
    return plan.run(on.a.at(i), on.b.at(i), on.c_is_d ? on.d.at(i) : on.c.at(i), on.d.at(i),
                    on.pointers(i),
                    {static_cast<std::byte*>(workspace->data()), workspace->bytes()}, stream);
  };
  const auto start = Clock::now();
  if (const Result<void> done = launch(0); !done) return done;
  const auto synchronize = [&] {
    return gpu::check((*gpu::driver())->call.stream_synchronize(stream), "cuStreamSynchronize");
  };
  if (const Result<void> done = synchronize(); !done) return done;
  report.first_seconds = seconds_since(start);
  report.num_runs = 1;
  report.seconds = report.low_seconds = report.high_seconds = report.first_seconds;
  if (!may_repeat(request) || request.repeat_for_s <= 0) return {};
  const auto time = gpu::time_launches(stream, launch);
  if (!time) return std::unexpected(time.error());
  report.num_runs = static_cast<int>(time->launches);
  report.seconds = time->median_us * 1e-6;
  report.low_seconds = time->low_us * 1e-6;
  report.high_seconds = time->high_us * 1e-6;
  return {};
}

bool full_is_cheap(const Problem& p, double product_s) {
  return num_flops(p) / 2 <= std::max(kLeastSeconds, product_s) * kStepsPerSecond;
}

// Every element, or the positions of sample_positions.h.
std::vector<Sample> samples_of(const ProductRequest& request, const Schedule& schedule, bool full) {
  const Problem& p = request.problem;
  SampleGrid grid{.m = p.m, .n = p.n, .tile_m = 0, .tile_n = 0, .seed = request.seed};
  if (!schedule.tiles.empty()) {
    grid.tile_m = schedule.tiles.front().m;
    grid.tile_n = schedule.tiles.front().n;
  }
  std::vector<Sample> samples;
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    for (std::int64_t column = 0; column < p.n; column += kPatch) {
      const std::vector<Position> positions =
          full ? all_positions(grid, column, 0, p.m) : sample_positions(grid, batch, column);
      for (const Position& at : positions) samples.push_back({batch, at.m, at.n});
    }
  }
  return samples;
}

Result<Verification> verify_on_device(const ComputedProduct& product, const ProductRequest& request,
                                      const DeviceOperands& on, double product_s) {
  const Problem& p = product.problem;
  Verification result;
  if (request.verify != VerifyMode::none && p.m > 0) {
    const auto start = Clock::now();
    const bool full = request.verify == VerifyMode::full || full_is_cheap(p, product_s);
    const std::vector<Sample> samples = samples_of(request, product.schedule, full);
    ElementCheck check(product);
    for (std::size_t first = 0; first < samples.size(); first += kSamplesAtOnce) {
      const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(kSamplesAtOnce, samples.size() - first);
      const std::vector<Sample> part(begin, begin + static_cast<std::ptrdiff_t>(count));
      const auto sums = gpu::sample_product(p, on.a.at(0), on.b.at(0), on.d.at(0), part);
      if (!sums) return std::unexpected(sums.error());
      for (std::size_t i = 0; i < count; ++i) {
        // Products are exact in float64, but for those of float64 itself.
        const double sum_error =
            kDoubleRoundoff * static_cast<double>(p.k + 1) * sums->magnitudes[i];
        check.add(part[i].batch, {part[i].m, part[i].n}, sums->sums[i], sums->magnitudes[i],
                  sum_error);
      }
      if (request.progress) {
        request.progress("checking",
                         static_cast<double>(first + count) / static_cast<double>(samples.size()));
      }
    }
    result = check.result();
    result.mode = full ? VerifyMode::full : VerifyMode::sample;
    result.seconds = seconds_since(start);
  }
  result.num_elements = p.m * p.n * p.batch;
  return result;
}

}  // namespace

Result<void> run_gpu_product(const Plan& plan, const ProductRequest& request,
                             ProductReport& report) {
  const auto context = gpu::find_context(nullptr);
  if (!context) return std::unexpected(context.error());
  const auto scope = gpu::ContextScope::enter(context->context);
  if (!scope) return std::unexpected(scope.error());
  const auto stream = gpu::Stream::create();
  if (!stream) return std::unexpected(stream.error());
  if (request.progress) request.progress("copying", -1);
  const auto on = upload_all(request, context->device->l2_bytes);
  if (!on) return std::unexpected(on.error());
  if (request.progress) request.progress("computing", -1);
  report.card = context->device->name;
  if (const Result<void> done = time_runs(plan, request, *on, stream->get(), report); !done) {
    return done;
  }
  const gpu::CardState state = gpu::card_state(*context->device).value_or(gpu::CardState{});
  report.power_w = state.power_w;
  report.clock_mhz = state.clock_mhz;
  if (const Result<void> done = on->d.download(request.d, on->d_bytes); !done) return done;
  const CardPeaks peaks = card_peaks(*context->device, request.problem);
  report.peak_gflops = request.measure_peak ? peaks.tflops * 1e3 : 0;
  report.peak_source = peaks.source;

  const ComputedProduct product{.problem = request.problem,
                                .schedule = report.schedule,
                                .a = request.a,
                                .b = request.b,
                                .c = request.c,
                                .d = request.d,
                                .operands = request.operands};
  const auto verified = verify_on_device(product, request, *on, report.seconds);
  if (verified) {
    report.verification = *verified;
    return {};
  }
  if (verified.error().code != ErrorCode::missing_capability) {
    return std::unexpected(verified.error());
  }
  // Without a compiler the reference kernel may be missing here: the host has the operands too.
  VerifyOptions options;
  options.mode = request.verify;
  options.seed = request.seed;
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.product_s = report.seconds;
  report.verification = verify(product, options);
  return {};
}

}  // namespace tilewise
