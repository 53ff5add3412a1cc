// GPUs and contexts. The library uses the caller's current context where there is one and the
// device's primary context otherwise, and leaves the current context as it found it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu/driver.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

struct GpuDevice {
  CuDevice handle = 0;  // the ordinal
  std::string name;
  std::string architecture;  // "sm_90a": what kernels are compiled for
  int compute_major = 0, compute_minor = 0;
  int num_sms = 0;
  int clock_mhz = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;  // with opt-in
  int threads_per_sm = 0;
};

// Every GPU that the driver sees. Error (missing_capability): no driver or no device.
[[nodiscard]] Result<std::span<const GpuDevice>> gpu_devices();

// "sm_90a" for 9.0, "sm_80" for 8.0.
[[nodiscard]] std::string architecture_name(int major, int minor);

// A context and the device that it belongs to.
struct DeviceContext {
  CuContext context = nullptr;
  const GpuDevice* device = nullptr;
};

// The context that a call with this stream runs in: the stream's own, else the caller's current
// one, else the primary context of `fallback` (kept alive from then on).
[[nodiscard]] Result<DeviceContext> find_context(CuStream stream, int fallback = 0);

// Makes a context current for a scope. The caller's own is restored at the end.
class ContextScope {
 public:
  [[nodiscard]] static Result<ContextScope> enter(CuContext context);
  ContextScope(ContextScope&& other) noexcept : driver_(other.driver_) { other.driver_ = nullptr; }
  ContextScope& operator=(ContextScope&&) = delete;
  ~ContextScope();

 private:
  explicit ContextScope(const Driver* driver) : driver_(driver) {}
  const Driver* driver_ = nullptr;  // null: nothing to restore
};

}  // namespace tilewise::gpu
