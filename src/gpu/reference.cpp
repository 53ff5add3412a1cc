#include "gpu/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/kernel_cache.h"
#include "gpu/loaded_kernel.h"
#include "gpu/translation_unit.h"

namespace tilewise::gpu {
namespace {

// A unit around one function of parts/reference.cuh.
Result<std::shared_ptr<const LoadedKernel>> load(const std::string& name,
                                                 const std::string& arguments,
                                                 const std::string& types,
                                                 const GpuDevice& device) {
  const auto files = kernel_files();
  if (!files) return std::unexpected(files.error());
  auto headers = include_closure(*files, "parts/reference.cuh");
  if (!headers) return std::unexpected(headers.error());
  TranslationUnit unit;
  unit.source.name = name + ".cu";
  unit.source.text =
      "#include \"parts/reference.cuh\"\n\n"
      "namespace tilewise {\n"
      "extern \"C\" __device__ const LaunchInfo tilewise_launch = " +
      name +
      "_launch();\n"
      "extern \"C\" __global__ void tilewise_kernel(const __grid_constant__ " +
      arguments +
      " arguments) {\n"
      "  " +
      name + "<" + types +
      ">(arguments);\n"
      "}\n"
      "}  // namespace tilewise\n";
  unit.headers = std::move(*headers);
  auto found = find_kernel(unit, device.architecture);
  if (!found) return std::unexpected(found.error());
  return LoadedKernel::load(std::move(found->kernel), name);
}

Result<void> enqueue(const LoadedKernel& kernel, std::int64_t items, void* arguments,
                     CuStream stream) {
  if (items == 0) return {};
  const LaunchInfo& info = kernel.launch();
  CuLaunchConfig config;
  config.grid_x = static_cast<unsigned>((items + info.tile_m - 1) / info.tile_m);
  config.block_x = static_cast<unsigned>(info.threads);
  config.stream = stream;
  void* parameters[] = {arguments};
  return kernel.enqueue(config, parameters);
}

MatrixArgument matrix(const void* data, const Strides& s) {
  return {const_cast<void*>(data), s.row, s.column, s.batch};
}

double unit_roundoff(int bits) { return std::ldexp(1.0, -bits); }

// The share of the sum of |a b| that accumulation may lose at most.
double accumulation_share(const Problem& problem, int promote_every) {
  const double k = static_cast<double>(problem.k);
  if (problem.type_a == Type::f64) return k * unit_roundoff(53);
  const double fma = k * unit_roundoff(24);
  if (problem.type_a == Type::f32 && problem.compute == Compute::f32) return fma;
  // Tensor cores truncate instead of rounding: two unit roundoffs an addition.
  const bool is_f8 = problem.type_a == Type::f8e4m3 || problem.type_a == Type::f8e5m2;
  if (!is_f8) return 2 * fma;
  // FP8: a step truncates 32 products and the sum so far to 13 bits below the largest.
  constexpr double kProducts = 32;
  constexpr int kFractionBits = 13;
  const double run = promote_every == 0 ? k : std::min<double>(k, promote_every);
  const double steps = std::ceil(run / kProducts);
  return steps * (kProducts + 1) * unit_roundoff(kFractionBits) + 2 * fma;
}

}  // namespace

Result<void> fill_normal(Type type, const DeviceBuffer& buffer, std::uint64_t seed,
                         CuStream stream) {
  const auto context = find_context(stream);
  if (!context) return std::unexpected(context.error());
  auto kernel = load("fill", "FillArguments", std::string(device_type(type)), *context->device);
  if (!kernel) return std::unexpected(kernel.error());
  FillArguments arguments{buffer.data(), static_cast<int64>(buffer.bytes()) / size_bytes(type),
                          seed};
  return enqueue(**kernel, arguments.size, &arguments, stream);
}

std::vector<Sample> sample_elements(const Problem& p, std::int64_t count) {
  std::vector<Sample> samples;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return samples;
  for (const std::int64_t m : {std::int64_t{0}, p.m - 1}) {
    for (const std::int64_t n : {std::int64_t{0}, p.n - 1}) samples.push_back({p.batch - 1, m, n});
  }
  // Every step-th element of D in order; an odd step that shares no factor with n visits all
  // columns.
  const std::int64_t total = p.m * p.n * p.batch;
  std::int64_t step = std::max<std::int64_t>(total / std::max<std::int64_t>(count, 1), 1);
  if (step > 1 && step % 2 == 0) ++step;
  for (std::int64_t i = 0; i < total; i += step) {
    samples.push_back({i / (p.m * p.n), i / p.n % p.m, i % p.n});
  }
  return samples;
}

Result<SampledProduct> sample_product(const Problem& p, const void* a, const void* b, const void* d,
                                      const std::vector<Sample>& samples) {
  SampledProduct product;
  if (samples.empty()) return product;
  const auto context = find_context(nullptr);
  if (!context) return std::unexpected(context.error());
  auto kernel = load("reference", "ReferenceArguments",
                     std::string(device_type(p.type_a)) + ", " + std::string(device_type(p.type_d)),
                     *context->device);
  if (!kernel) return std::unexpected(kernel.error());
  const std::size_t count = samples.size();
  auto where = DeviceBuffer::allocate(count * sizeof(Sample));
  auto values = DeviceBuffer::allocate(3 * count * sizeof(double));
  if (!where) return std::unexpected(where.error());
  if (!values) return std::unexpected(values.error());
  if (auto ok = where->copy_from_host(samples.data(), count * sizeof(Sample)); !ok) {
    return std::unexpected(ok.error());
  }
  ReferenceArguments arguments = {};
  arguments.product.k = p.k;
  arguments.product.a = matrix(a, p.a);
  arguments.product.b = matrix(b, p.b);
  arguments.product.d = matrix(d, p.d);
  arguments.samples = static_cast<const Sample*>(where->data());
  arguments.num_samples = static_cast<int64>(count);
  arguments.sums = static_cast<double*>(values->data());
  arguments.magnitudes = arguments.sums + count;
  arguments.results = arguments.magnitudes + count;
  if (auto ok = enqueue(**kernel, arguments.num_samples, &arguments, nullptr); !ok) {
    return std::unexpected(ok.error());
  }
  std::vector<double> all(3 * count);
  if (auto ok = values->copy_to_host(all.data(), all.size() * sizeof(double)); !ok) {
    return std::unexpected(ok.error());
  }
  const auto part = [&](std::size_t i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * count);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  return SampledProduct{part(0), part(1), part(2)};
}

MeasuredError compare(const Problem& problem, int promote_every, const SampledProduct& product) {
  const double share = accumulation_share(problem, promote_every);
  const double output =
      problem.type_d == Type::f64 ? 0 : unit_roundoff(significand_bits(problem.type_d));
  // Inputs are exact in their type, but TF32 rounds them once more.
  const double input = problem.compute == Compute::tf32 ? 2 * unit_roundoff(10) : 0;
  MeasuredError error;
  for (std::size_t i = 0; i < product.sums.size(); ++i) {
    const double distance = std::abs(product.results[i] - product.sums[i]);
    if (!std::isfinite(distance)) {
      return {std::numeric_limits<double>::infinity(), 0, std::numeric_limits<double>::infinity(),
              false};
    }
    const double bound =
        (share + input) * product.magnitudes[i] * (1 + output) + output * std::abs(product.sums[i]);
    const double of_bound = distance == 0 ? 0 : distance / bound;
    if (of_bound >= error.worst_share) {
      error.worst_share = of_bound;
      error.max_error = distance;
      error.bound = bound;
    }
  }
  error.verified = error.worst_share <= 1;
  return error;
}

}  // namespace tilewise::gpu
