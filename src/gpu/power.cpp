#include "gpu/power.h"

#include <array>
#include <string>

#include "gpu/dynamic_library.h"

namespace tilewise::gpu {
namespace {

using NvmlDevice = void*;

constexpr int kNvmlClockSm = 1;

struct Nvml {
  int (*init)() = nullptr;
  int (*device_by_bus)(const char*, NvmlDevice*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;  // milliwatts
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
};

Result<Nvml> open_nvml() {
  const std::array<std::string, 2> candidates = {"libnvidia-ml.so.1",
                                                 "/usr/local/nvidia/lib64/libnvidia-ml.so.1"};
  const auto library = DynamicLibrary::open("NVML", candidates);
  if (!library) return std::unexpected(library.error());
  Nvml nvml;
  const auto find = [&](const char* name, auto& pointer) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(library->find(name));
    return pointer != nullptr;
  };
  if (!find("nvmlInit_v2", nvml.init) ||
      !find("nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_bus) ||
      !find("nvmlDeviceGetPowerUsage", nvml.power) || !find("nvmlDeviceGetClockInfo", nvml.clock) ||
      nvml.init() != 0) {
    return missing_capability("NVML at " + library->path() + " cannot be used");
  }
  return nvml;
}

}  // namespace

Result<CardState> card_state(const GpuDevice& device) {
  static const Result<Nvml> nvml = open_nvml();
  if (!nvml) return std::unexpected(nvml.error());
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  std::array<char, 32> bus{};
  if (auto ok = check((*opened)->call.device_get_pci_bus_id(
                          bus.data(), static_cast<int>(bus.size()), device.handle),
                      "cuDeviceGetPCIBusId");
      !ok) {
    return std::unexpected(ok.error());
  }
  NvmlDevice handle = nullptr;
  unsigned milliwatts = 0, mhz = 0;
  if (nvml->device_by_bus(bus.data(), &handle) != 0 || nvml->power(handle, &milliwatts) != 0 ||
      nvml->clock(handle, kNvmlClockSm, &mhz) != 0) {
    return missing_capability("NVML does not tell the power and the clock of " + device.name);
  }
  return CardState{milliwatts / 1e3, static_cast<int>(mhz)};
}

}  // namespace tilewise::gpu
