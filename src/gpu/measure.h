// One product run, checked and timed on the device.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/buffer.h"
#include "gpu/gpu_plan.h"
#include "gpu/reference.h"
#include "gpu/timing.h"
#include "tilewise/problem.h"

namespace tilewise::gpu {

// Random operands in several copies, used in turn so that none is found in the L2.
class RotatedOperands {
 public:
  // Standard normal A and B in every copy. Waits until they are written. Errors: out of memory.
  [[nodiscard]] static Result<RotatedOperands> create(const Problem& problem, std::uint64_t seed,
                                                      const GpuDevice& device, CuStream stream);

  struct Pointers {
    const void* a;
    const void* b;
    void* d;
  };
  [[nodiscard]] Pointers operator[](std::int64_t launch) const;
  [[nodiscard]] std::int64_t copies() const { return copies_; }
  // Every byte of D to 0xff, which is no number in any type.
  [[nodiscard]] Result<void> spoil_results() const { return d_.fill(0xff); }

 private:
  DeviceBuffer a_, b_, d_;
  std::int64_t copies_ = 1;
  std::int64_t a_bytes_ = 0, b_bytes_ = 0, d_bytes_ = 0;  // between copies
};

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
};

// Prepares, runs once and checks `samples` elements of D against float64, then times.
[[nodiscard]] Result<Measurement> measure(const Problem& problem, const Schedule& schedule,
                                          const RotatedOperands& operands, CuStream stream,
                                          const TimingOptions& options = {},
                                          std::int64_t samples = 4096);

struct RivalMeasurement {
  std::string name, version, kernel;
  Timing time;
  double tflops = 0;
  MeasuredError error;
};

// cuBLASLt: the fastest of what its heuristics offer, each timed on the same operands.
[[nodiscard]] Result<RivalMeasurement> measure_cublaslt(const Problem& problem,
                                                        const RotatedOperands& operands,
                                                        CuStream stream,
                                                        const TimingOptions& options = {},
                                                        std::int64_t samples = 4096);

}  // namespace tilewise::gpu
