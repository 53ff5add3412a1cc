// One product on a GPU whose result is known exactly, with canaries around D: for the tests and for
// the programs that sanitizers and profilers run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/gpu_plan.h"
#include "gpu/integer_product.h"
#include "tilewise/problem.h"
#include "tilewise/schedule.h"

namespace tilewise::gpu {

struct Shape {
  std::int64_t m, n, k;
};

// How the operands lie in memory.
struct Layout {
  const char* name;
  bool transpose_a, transpose_b;
  std::int64_t pad_bytes;     // added to the pitch of A, B and D, rounded up to whole elements
  std::int64_t offset_bytes;  // of the bases, likewise
  std::int64_t batch;
};

// What a schedule's kernel multiplies, from its file's Needs line.
struct RungNeeds {
  std::vector<Type> types;
  bool any_strides = false;      // else pitches are multiples of 16 bytes, and bases of
  std::int64_t base_bytes = 16;  // these
  bool hopper = false;           // sm_90a
};
// Error: a kernel that has no file.
[[nodiscard]] Result<RungNeeds> rung_needs(const Schedule& schedule);

// aligned: pitches are rounded up to multiples of 16 bytes.
[[nodiscard]] Problem make_case(const Shape& shape, const Layout& layout, Type type,
                                const Schedule& schedule, bool aligned);

// The operands of a case in device memory, filled from the host (no kernel runs). D is spoilt.
class CaseOperands {
 public:
  // elements_only: what lies between the elements is left uninitialised (for initcheck), where no
  // extent is more than 40: each line is a copy of its own.
  [[nodiscard]] static Result<CaseOperands> create(const Problem& problem, const Layout& layout,
                                                   bool elements_only = false);
  [[nodiscard]] RunArguments arguments() const;

  // What is wrong with D's memory, every byte of it, after a run; empty where nothing is.
  [[nodiscard]] Result<std::string> find_mistakes() const;
  // The same where nothing should have been written.
  [[nodiscard]] Result<bool> untouched() const;

 private:
  CaseOperands(const Problem& problem, HostMatrix a, HostMatrix b, HostMatrix d)
      : problem_(problem), a_(std::move(a)), b_(std::move(b)), d_(std::move(d)) {}
  Problem problem_;
  HostMatrix a_, b_, d_;
  DeviceBuffer device_a_, device_b_, device_d_;
};

// Prepares, runs and compares; empty where the result is right. `elements_only` as above.
[[nodiscard]] Result<std::string> run_case(const Problem& problem, const Schedule& schedule,
                                           const Layout& layout, bool elements_only = false);

}  // namespace tilewise::gpu
