#include "gpu/loaded_kernel.h"

#include <map>
#include <mutex>

namespace tilewise::gpu {
namespace {

CuFunction as_function(CuKernel kernel) { return reinterpret_cast<CuFunction>(kernel); }

std::string describe(const CuLaunchConfig& c) {
  const auto triple = [](unsigned x, unsigned y, unsigned z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
  };
  std::string text = "grid " + triple(c.grid_x, c.grid_y, c.grid_z) + ", block " +
                     triple(c.block_x, c.block_y, c.block_z) + ", " +
                     std::to_string(c.shared_bytes) + " bytes of dynamic shared memory";
  if (c.num_attributes > 0) {
    const auto& cluster = c.attributes[0].cluster;
    text += ", cluster " + triple(cluster.x, cluster.y, cluster.z);
  }
  return text;
}

}  // namespace

Result<std::shared_ptr<const LoadedKernel>> LoadedKernel::load(
    std::shared_ptr<const CompiledKernel> compiled, std::string name) {
  static std::mutex mutex;
  static std::map<const CompiledKernel*, std::shared_ptr<const LoadedKernel>> loaded;
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(compiled.get()); found != loaded.end()) return found->second;

  auto kernel = std::make_shared<LoadedKernel>();
  kernel->compiled_ = std::move(compiled);
  kernel->name_ = std::move(name);
  const DriverFunctions& call = (*opened)->call;
  const std::string doing = "kernel \"" + kernel->name_ + "\"";
  if (auto ok = check(call.library_load_data(&kernel->library_, kernel->compiled_->cubin.data(),
                                             nullptr, nullptr, 0, nullptr, nullptr, 0),
                      "cuLibraryLoadData", doing);
      !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok =
          check(call.library_get_kernel(&kernel->kernel_, kernel->library_, "tilewise_kernel"),
                "cuLibraryGetKernel", doing);
      !ok) {
    return std::unexpected(ok.error());
  }
  loaded.emplace(kernel->compiled_.get(), kernel);
  return kernel;
}

Result<void> LoadedKernel::prepare(const GpuDevice& device) const {
  const std::uint64_t bit = std::uint64_t{1} << (device.handle & 63);
  if ((prepared_devices_.load(std::memory_order_acquire) & bit) != 0) return {};
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  const std::int64_t shared = launch().shared_bytes + compiled_->resources.static_shared_bytes;
  if (shared > device.shared_bytes_per_block) {
    return bad_request("schedule: kernel \"" + name_ + "\" needs " + std::to_string(shared) +
                       " bytes of shared memory a block; " + device.name + " has " +
                       std::to_string(device.shared_bytes_per_block) +
                       "; take fewer stages or a smaller block tile");
  }
  const DriverFunctions& call = (*opened)->call;
  CuResult result = call.kernel_set_attribute(CuFunctionAttribute::max_dynamic_shared_bytes,
                                              launch().shared_bytes, kernel_, device.handle);
  constexpr int kPortableClusterBlocks = 8;
  if (result == kCuSuccess && launch().cluster_m * launch().cluster_n > kPortableClusterBlocks) {
    result = call.kernel_set_attribute(CuFunctionAttribute::non_portable_cluster, 1, kernel_,
                                       device.handle);
  }
  if (auto ok = check(result, "cuKernelSetAttribute",
                      "kernel \"" + name_ + "\", " + std::to_string(launch().shared_bytes) +
                          " bytes of dynamic shared memory");
      !ok) {
    return ok;
  }
  prepared_devices_.fetch_or(bit, std::memory_order_release);
  return {};
}

Result<int> LoadedKernel::blocks_per_sm(const GpuDevice& device) const {
  if (auto ok = prepare(device); !ok) return std::unexpected(ok.error());
  const auto opened = driver();
  int blocks = 0;
  if (auto ok = check((*opened)->call.occupancy_max_active_blocks(
                          &blocks, as_function(kernel_), launch().threads,
                          static_cast<std::size_t>(launch().shared_bytes)),
                      "cuOccupancyMaxActiveBlocksPerMultiprocessor", "kernel \"" + name_ + "\"");
      !ok) {
    return std::unexpected(ok.error());
  }
  return blocks;
}

Result<void> LoadedKernel::enqueue(CuLaunchConfig config, void** arguments) const {
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  const CuResult result =
      (*opened)->call.launch_kernel(&config, as_function(kernel_), arguments, nullptr);
  if (result == kCuSuccess) return {};
  return check(result, "cuLaunchKernelEx", "kernel \"" + name_ + "\", " + describe(config));
}

}  // namespace tilewise::gpu
