#include "report/gpu_findings.h"

#include <cstdint>

#include "gpu/choose_schedule.h"
#include "gpu/cublaslt.h"
#include "gpu/device.h"
#include "gpu/disk_cache.h"
#include "gpu/embedded_cubins.h"
#include "gpu/nvrtc.h"
#include "io/text_table.h"

namespace tilewise {
namespace {

std::string bytes(std::int64_t count) { return readable_bytes(static_cast<double>(count)); }

std::string describe(const gpu::GpuDevice& card) {
  return std::to_string(card.handle) + ": " + card.name + ", " + card.architecture + ", " +
         std::to_string(card.num_sms) + " SMs at up to " + std::to_string(card.clock_mhz) +
         " MHz, " + bytes(card.memory_bytes) + " of memory, " + bytes(card.l2_bytes) + " of L2";
}

std::string describe(const gpu::Driver* driver) {  // 13000 is 13.0
  return "CUDA " + std::to_string(driver->version / 1000) + "." +
         std::to_string(driver->version % 1000 / 10) + " (" + driver->path + ")";
}

std::string describe(const gpu::Nvrtc* nvrtc) {
  return nvrtc->version() + " (" + nvrtc->path + ")";
}

std::string describe(const gpu::CublasLt* lt) { return lt->version + " (" + lt->path + ")"; }

template <class T>
Finding finding(std::string what, const Result<T>& result) {
  if (result) return {std::move(what), true, describe(*result)};
  return {std::move(what), false, result.error().message};
}

}  // namespace

std::vector<Finding> find_gpu_parts() {
  std::vector<Finding> findings;
  const auto cards = gpu::gpu_devices();
  if (!cards) findings.push_back({"card", false, cards.error().message});
  if (cards) {
    for (const gpu::GpuDevice& card : *cards) findings.push_back({"card", true, describe(card)});
  }
  findings.push_back(finding("driver", gpu::driver()));
  findings.push_back(finding("NVRTC", gpu::nvrtc()));
  findings.push_back(finding("cuBLASLt", gpu::cublaslt()));
  const gpu::DiskCache cache(gpu::DiskCache::default_folder());
  findings.push_back(
      {"kernel cache", cache.usable(), cache.usable() ? cache.folder().string() : cache.reason()});
  const std::size_t built_in = gpu::num_embedded_cubins();
  findings.push_back({"built-in kernels", built_in > 0,
                      std::to_string(built_in) + " compiled when this was built"});
  return findings;
}

Result<void> require_gpu() {
  const auto cards = gpu::gpu_devices();
  if (!cards) return std::unexpected(cards.error());
  return {};
}

Result<void> gpu_takes(const Problem& problem) {
  const auto devices = gpu::gpu_devices();
  if (!devices) return std::unexpected(devices.error());
  const auto chosen = gpu::choose_schedule(problem, devices->front().architecture);
  if (!chosen) return std::unexpected(chosen.error());
  return {};
}

}  // namespace tilewise
