#include "gpu/broken_rung.h"

#include "gpu/buffer.h"
#include "gpu/integer_product.h"
#include "gpu/kernel_cache.h"
#include "gpu/loaded_kernel.h"
#include "io/embedded.h"
#include "tilewise/schedule.h"

namespace tilewise {
extern const EmbeddedFile kTestKernels[];
extern const std::size_t kTestKernels_size;
}  // namespace tilewise

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kM = 96, kN = 64, kK = 160;  // several tiles of 32 each way

Result<Schedule> broken_schedule(const std::string& kernel) {
  auto schedule = find_schedule("shared_tile");
  if (schedule) schedule->kernel = kernel;
  return schedule;
}

}  // namespace

KernelFiles files_with_broken_rung(const std::string& kernel) {
  KernelFiles files = kernel_files().value();
  for (std::size_t i = 0; i < kTestKernels_size; ++i) {
    if (kTestKernels[i].name.ends_with("missing_barriers.cuh")) {
      files["ladder/99_" + kernel + ".cuh"] = kTestKernels[i].text;
    }
  }
  return files;
}

Result<TranslationUnit> broken_rung_unit(const std::string& kernel) {
  const Problem problem = make_problem(kM, kN, kK);
  const auto schedule = broken_schedule(kernel);
  if (!schedule) return std::unexpected(schedule.error());
  return write_translation_unit(files_with_broken_rung(kernel), problem, *schedule,
                                make_constants(problem, *schedule));
}

Result<WrongResults> run_broken_rung(const std::string& kernel) {
  const auto context = find_context(nullptr);
  if (!context) return std::unexpected(context.error());
  const auto scope = ContextScope::enter(context->context);
  if (!scope) return std::unexpected(scope.error());
  const auto unit = broken_rung_unit(kernel);
  if (!unit) return std::unexpected(unit.error());
  const auto found = find_kernel(*unit, context->device->architecture);
  if (!found) return std::unexpected(found.error());
  const auto loaded = LoadedKernel::load(found->kernel, kernel);
  if (!loaded) return std::unexpected(loaded.error());
  if (auto ok = (*loaded)->prepare(*context->device); !ok) return std::unexpected(ok.error());

  const Problem p = make_problem(kM, kN, kK);
  std::vector<float> a(kM * kK), b(kK * kN), d(kM * kN, -1e30f);
  for (std::int64_t m = 0; m < kM; ++m) {
    for (std::int64_t k = 0; k < kK; ++k)
      a[static_cast<std::size_t>(m * kK + k)] = static_cast<float>(integer_a(0, m, k));
  }
  for (std::int64_t k = 0; k < kK; ++k) {
    for (std::int64_t n = 0; n < kN; ++n)
      b[static_cast<std::size_t>(k * kN + n)] = static_cast<float>(integer_b(0, k, n));
  }
  const auto upload = [](const std::vector<float>& from) -> Result<DeviceBuffer> {
    auto buffer = DeviceBuffer::allocate(from.size() * sizeof(float));
    if (!buffer) return buffer;
    if (auto ok = buffer->copy_from_host(from.data(), buffer->bytes()); !ok) {
      return std::unexpected(ok.error());
    }
    return buffer;
  };
  const auto device_a = upload(a), device_b = upload(b), device_d = upload(d);
  if (!device_a || !device_b || !device_d) {
    return std::unexpected((!device_a ? device_a : !device_b ? device_b : device_d).error());
  }
  KernelArguments arguments = {};
  arguments.m = kM;
  arguments.n = kN;
  arguments.k = kK;
  arguments.batch = 1;
  arguments.a = {device_a->data(), kK, 1, 0};
  arguments.b = {device_b->data(), kN, 1, 0};
  arguments.d = {device_d->data(), kN, 1, 0};
  const LaunchInfo& info = (*loaded)->launch();
  CuLaunchConfig config;
  config.grid_x = static_cast<unsigned>((kM / info.tile_m) * (kN / info.tile_n));
  config.block_x = static_cast<unsigned>(info.threads);
  config.shared_bytes = static_cast<unsigned>(info.shared_bytes);
  void* parameters[] = {&arguments};
  if (auto ok = (*loaded)->enqueue(config, parameters); !ok) return std::unexpected(ok.error());
  if (auto ok = device_d->copy_to_host(d.data(), device_d->bytes()); !ok) {
    return std::unexpected(ok.error());
  }
  const std::vector<std::int64_t> expected = integer_product(p);
  WrongResults results;
  results.total = kM * kN;
  for (std::size_t i = 0; i < d.size(); ++i) {
    results.wrong += !(d[i] == static_cast<float>(expected[i]));
  }
  return results;
}

}  // namespace tilewise::gpu
