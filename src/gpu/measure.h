// One product run, checked and timed on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/gpu_plan.h"
#include "gpu/power.h"
#include "gpu/reference.h"
#include "gpu/timing.h"
#include "tilewise/problem.h"

namespace tilewise::gpu {

// Random operands in several copies, used in turn so that none is found in the L2.
class RotatedOperands {
 public:
  // Standard normal A and B in every copy, and what the epilogue reads. Waits until they are
  // written. Errors: out of memory.
  [[nodiscard]] static Result<RotatedOperands> create(const Problem& problem, std::uint64_t seed,
                                                      const GpuDevice& device, CuStream stream);

  struct Pointers {
    const void* a;
    const void* b;
    const void* c;  // null where the epilogue does not read it
    void* d;
    std::vector<const void*> others;  // the epilogue's operands
  };
  [[nodiscard]] Pointers operator[](std::int64_t launch) const;
  [[nodiscard]] std::int64_t copies() const { return copies_; }
  // Every byte of D to 0xff, which is no number in any type.
  [[nodiscard]] Result<void> spoil_results() const { return d_.buffer.fill(0xff); }

  // The first copy of D and of what the epilogue reads, in host memory.
  struct HostCopy {
    std::vector<std::byte> c, d;
    std::vector<std::vector<std::byte>> others;
  };
  [[nodiscard]] Result<HostCopy> first_copy() const;

 private:
  struct Rotated {
    DeviceBuffer buffer;
    std::int64_t bytes = 0;  // between copies
  };
  Rotated a_, b_, c_, d_;
  std::vector<Rotated> others_;
  std::int64_t copies_ = 1;
};

// Compares what a schedule left in the first copy of D with float64.
using ResultCheck = std::function<Result<MeasuredError>(
    const Problem& problem, const Schedule& schedule, const RotatedOperands& operands)>;

// For products without an epilogue: `samples` elements of D, on the device.
[[nodiscard]] ResultCheck check_samples(std::int64_t samples = 4096);

struct Measurement {
  Schedule schedule;
  KernelOrigin origin = KernelOrigin::memory;
  double prepare_ms = 0;  // from the call to a plan that is ready to run
  KernelResources resources;
  LaunchInfo launch;
  int blocks_per_sm = 0;
  double occupancy = 0;  // resident threads / the SM's
  MeasuredError error;
  Timing time;
  double tflops = 0;
  CardState state;  // at the end of the timed launches; zeros where NVML does not say
};

// Prepares, runs once and checks, then times.
[[nodiscard]] Result<Measurement> measure(const Problem& problem, const Schedule& schedule,
                                          const RotatedOperands& operands, CuStream stream,
                                          const TimingOptions& options = {},
                                          const ResultCheck& check = check_samples());

struct RivalMeasurement {
  std::string name, version, kernel;
  Timing time;
  double tflops = 0;
  MeasuredError error;
};

// cuBLASLt: the fastest of what its heuristics offer, each timed on the same operands, without the
// epilogue.
[[nodiscard]] Result<RivalMeasurement> measure_cublaslt(const Problem& problem,
                                                        const RotatedOperands& operands,
                                                        CuStream stream,
                                                        const TimingOptions& options = {},
                                                        std::int64_t samples = 4096);

}  // namespace tilewise::gpu
