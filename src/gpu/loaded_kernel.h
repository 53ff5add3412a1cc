// Machine code made ready to launch.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "gpu/compile.h"
#include "gpu/device.h"

namespace tilewise::gpu {

// Belongs to no context (the driver loads it into each when first launched there), and stays loaded
// to the end of the process: unloading would wait for kernels in flight.
class LoadedKernel {
 public:
  // Cached by the compiled kernel: loading twice gives the same object.
  [[nodiscard]] static Result<std::shared_ptr<const LoadedKernel>> load(
      std::shared_ptr<const CompiledKernel> compiled, std::string name);

  [[nodiscard]] const CompiledKernel& compiled() const { return *compiled_; }
  [[nodiscard]] const LaunchInfo& launch() const { return compiled_->launch; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // Allows the kernel its dynamic shared memory (and a large cluster) on a device; cheap after the
  // first call. Error: the device has less shared memory than the kernel asks for.
  [[nodiscard]] Result<void> prepare(const GpuDevice& device) const;

  // Blocks that fit one SM of the device of the current context.
  [[nodiscard]] Result<int> blocks_per_sm(const GpuDevice& device) const;

  // Enqueues one launch in the current context. `arguments` points to the kernel's parameters. An
  // error names the kernel, its grid, block and shared bytes.
  [[nodiscard]] Result<void> enqueue(CuLaunchConfig config, void** arguments) const;

 private:
  std::shared_ptr<const CompiledKernel> compiled_;
  std::string name_;
  CuLibrary library_ = nullptr;
  CuKernel kernel_ = nullptr;
  mutable std::atomic<std::uint64_t> prepared_devices_{0};  // a bit a device ordinal
};

}  // namespace tilewise::gpu
