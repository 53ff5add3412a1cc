// The rungs of the GPU ladder, measured one after another on the same operands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/measure.h"
#include "tilewise/problem.h"
#include "tilewise/schedule.h"
#include "tilewise/traffic.h"

namespace tilewise {

struct LadderRequest {
  Problem problem;
  std::vector<Schedule> schedules;
  bool skip_refused = true;  // false: a schedule that cannot take the problem is an error
  bool against_cublaslt = false;
  std::uint64_t seed = 1;
  gpu::TimingOptions timing;
};

struct LadderRow {
  std::string rung;  // "05", "" for a kernel outside the ladder
  gpu::Measurement measured;
  CountReport counted;
  double share_of_peak = 0;     // 0: no peak is known
  double ratio = 0;             // the rival's time over ours; 0: no rival
  double wavefront_tflops = 0;  // wavefront_limit; 0: none
};

struct Ladder {
  Problem problem;
  gpu::GpuDevice card;
  int driver_version = 0;
  std::string compiler;    // NVRTC's version
  double peak_tflops = 0;  // measured where known, else the datasheet's
  std::string peak_source;
  double bandwidth_gbps = 0;  // of device memory
  std::optional<gpu::RivalMeasurement> rival;
  std::vector<LadderRow> rows;
  std::vector<std::string> skipped;  // "wgmma: reason"
  bool failed = false;               // one was skipped for a defect, not for what it cannot take
  std::int64_t copies = 1;
};

// TFLOP/s at which shared memory alone would hold a schedule: every SM busy with one wavefront of
// reads or stores a cycle (count_units). The writes of asynchronous copies are left out: most of
// the wavefronts that their instructions are counted with take no cycle (docs/gpu.md). Nothing
// where the reads do not pass through wavefronts or are not counted: the compiler may merge them,
// or the tensor core reads by itself.
[[nodiscard]] std::optional<double> wavefront_limit(const Problem& problem,
                                                    const Schedule& schedule, int num_sms,
                                                    int clock_mhz);

// The named GPU schedules whose kernels take the problem's type and arithmetic, in the ladder's
// order.
[[nodiscard]] Result<std::vector<Schedule>> ladder_schedules(const Problem& problem);

// A rung that cannot take the problem, or fails, is skipped with its reason. Errors: no GPU;
// operands that do not fit its memory.
[[nodiscard]] Result<Ladder> run_ladder(const LadderRequest& request);

}  // namespace tilewise
