#include "gpu/device.h"

#include <map>
#include <mutex>

namespace tilewise::gpu {
namespace {

constexpr int kNameBytes = 256;

// Stream handles that stand for the legacy and the per-thread default stream have no context.
bool is_default_stream(CuStream stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

Result<GpuDevice> describe(const Driver& driver, int ordinal) {
  GpuDevice device;
  char name[kNameBytes] = {};
  CuResult result = driver.call.device_get(&device.handle, ordinal);
  if (result == kCuSuccess) {
    result = driver.call.device_get_name(name, kNameBytes, device.handle);
  }
  std::size_t memory = 0;
  if (result == kCuSuccess) result = driver.call.device_total_mem(&memory, device.handle);
  const auto get = [&](CuDeviceAttribute attribute) {
    int value = 0;
    if (result == kCuSuccess) {
      result = driver.call.device_get_attribute(&value, attribute, device.handle);
    }
    return value;
  };
  device.name = name;
  device.memory_bytes = static_cast<std::int64_t>(memory);
  device.compute_major = get(CuDeviceAttribute::compute_major);
  device.compute_minor = get(CuDeviceAttribute::compute_minor);
  device.architecture = architecture_name(device.compute_major, device.compute_minor);
  device.num_sms = get(CuDeviceAttribute::num_sms);
  device.clock_mhz = get(CuDeviceAttribute::clock_khz) / 1000;
  device.l2_bytes = get(CuDeviceAttribute::l2_bytes);
  device.shared_bytes_per_block = get(CuDeviceAttribute::shared_bytes_per_block_optin);
  device.threads_per_sm = get(CuDeviceAttribute::threads_per_sm);
  if (auto ok = check(result, "cuDeviceGetAttribute", "reading device " + std::to_string(ordinal));
      !ok) {
    return std::unexpected(ok.error());
  }
  return device;
}

Result<std::vector<GpuDevice>> list_devices() {
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  int count = 0;
  if (auto ok = check((*opened)->call.device_get_count(&count), "cuDeviceGetCount"); !ok) {
    return std::unexpected(ok.error());
  }
  std::vector<GpuDevice> devices;
  for (int i = 0; i < count; ++i) {
    auto device = describe(**opened, i);
    if (!device) return std::unexpected(device.error());
    devices.push_back(std::move(*device));
  }
  return devices;
}

// Retained once and kept for the life of the process.
Result<CuContext> primary_context(const Driver& driver, const GpuDevice& device) {
  static std::mutex mutex;
  static std::map<CuDevice, CuContext> retained;
  const std::lock_guard lock(mutex);
  if (const auto found = retained.find(device.handle); found != retained.end()) {
    return found->second;
  }
  CuContext context = nullptr;
  if (auto ok = check(driver.call.primary_context_retain(&context, device.handle),
                      "cuDevicePrimaryCtxRetain", "making the context of " + device.name);
      !ok) {
    return std::unexpected(ok.error());
  }
  retained[device.handle] = context;
  return context;
}

Result<DeviceContext> with_device(const Driver& driver, CuContext context,
                                  std::span<const GpuDevice> devices) {
  auto scope = ContextScope::enter(context);
  if (!scope) return std::unexpected(scope.error());
  CuDevice handle = 0;
  if (auto ok = check(driver.call.context_get_device(&handle), "cuCtxGetDevice"); !ok) {
    return std::unexpected(ok.error());
  }
  for (const GpuDevice& device : devices) {
    if (device.handle == handle) return DeviceContext{context, &device};
  }
  return std::unexpected(
      Error{ErrorCode::internal, "the current CUDA context is of no known device"});
}

}  // namespace

std::string architecture_name(int major, int minor) {
  const std::string number = "sm_" + std::to_string(10 * major + minor);
  return major == 9 && minor == 0 ? number + "a" : number;  // wgmma and setmaxnreg need the "a"
}

Result<std::span<const GpuDevice>> gpu_devices() {
  static const Result<std::vector<GpuDevice>> devices = list_devices();
  if (!devices) return std::unexpected(devices.error());
  return std::span<const GpuDevice>(*devices);
}

Result<DeviceContext> find_context(CuStream stream, int fallback) {
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  const auto devices = gpu_devices();
  if (!devices) return std::unexpected(devices.error());
  CuContext context = nullptr;
  const CuResult result = is_default_stream(stream)
                              ? (*opened)->call.context_get_current(&context)
                              : (*opened)->call.stream_get_context(stream, &context);
  if (auto ok = check(result, "cuCtxGetCurrent"); !ok) return std::unexpected(ok.error());
  if (context != nullptr) return with_device(**opened, context, *devices);

  if (fallback < 0 || fallback >= static_cast<int>(devices->size())) {
    return bad_request("device " + std::to_string(fallback) + " does not exist; there are " +
                       std::to_string(devices->size()));
  }
  const GpuDevice& device = (*devices)[static_cast<std::size_t>(fallback)];
  auto primary = primary_context(**opened, device);
  if (!primary) return std::unexpected(primary.error());
  return DeviceContext{*primary, &device};
}

Result<ContextScope> ContextScope::enter(CuContext context) {
  const auto opened = driver();
  if (!opened) return std::unexpected(opened.error());
  CuContext current = nullptr;
  CuResult result = (*opened)->call.context_get_current(&current);
  if (result == kCuSuccess && current == context) return ContextScope(nullptr);
  if (result == kCuSuccess) result = (*opened)->call.context_push_current(context);
  if (auto ok = check(result, "cuCtxPushCurrent"); !ok) return std::unexpected(ok.error());
  return ContextScope(*opened);
}

ContextScope::~ContextScope() {
  CuContext popped = nullptr;
  if (driver_ != nullptr) driver_->call.context_pop_current(&popped);
}

}  // namespace tilewise::gpu
