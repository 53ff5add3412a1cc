// Which arithmetic a schedule multiplies with, for which types and on which architectures.
#include <charconv>

#include "tilewise/estimate.h"

namespace tilewise {
namespace {

std::string named(const Schedule& s) {
  return s.name.empty() ? "this schedule" : "schedule \"" + s.name + "\"";
}

// A compute that the operands' type has: float64 is computed in float64, 16 and 8 bits are
// multiplied as they are and added in float32, and float32 has all the others. Empty: it has this
// one.
std::string wrong_compute(const Problem& p) {
  const std::string start = "compute is " + std::string(to_string(p.compute)) +
                            ", and operands of " + std::string(to_string(p.type_a));
  if (p.type_a == Type::f64) {
    return p.compute == Compute::f64 ? "" : start + " are computed in float64; take compute f64";
  }
  if (p.type_a == Type::f32) {
    return p.compute != Compute::f64 ? "" : start + " have 32 bits; take compute f32, or type f64";
  }
  return p.compute == Compute::f32 ? ""
                                   : start +
                                         " are multiplied as they are and added in float32; take "
                                         "compute f32";
}

// A schedule that computes what the problem asks for.
std::string_view schedule_for(const Problem& p) {
  if (p.type_a == Type::f64) return "packed_avx2_f64";
  if (size_bytes(p.type_a) == 1) return "wgmma_fp8";
  if (size_bytes(p.type_a) == 2) return "mma";
  if (p.compute == Compute::f32) return "square_tile";
  return p.compute == Compute::tf32 ? "mma_tf32" : "";
}

// Arithmetic is named, never implied: a schedule serves the compute that it names.
Result<void> check_compute(const Problem& p, const Schedule& s) {
  if (const std::string wrong = wrong_compute(p); !wrong.empty()) {
    return bad_request("explain: " + wrong);
  }
  if (s.compute == p.compute) return {};
  const std::string_view other = schedule_for(p);
  return bad_request("explain: compute is " + std::string(to_string(p.compute)) + ", and " +
                     named(s) + " computes " + std::string(to_string(s.compute)) +
                     "; ask for that by name" +
                     (other.empty() ? std::string(", or take a schedule with this compute")
                                    : ", or take schedule \"" + std::string(other) + "\""));
}

Result<PeakUse> lanes_use(const Problem& p, const Schedule& s) {
  if (p.compute != Compute::f32 && p.compute != Compute::f64) {
    return bad_request("explain: compute is " + std::string(to_string(p.compute)) + ", and " +
                       named(s) +
                       " multiplies on float32 lanes; take a schedule with tensor instructions");
  }
  if (p.type_a == Type::f64) return PeakUse{"f64", 1};
  if (p.type_a == Type::f32) return PeakUse{"f32", 1};
  return bad_request("explain: type is " + std::string(to_string(p.type_a)) + ", and " + named(s) +
                     " multiplies float32 on its lanes; take schedule \"mma\" or \"wgmma\"");
}

// Tensor cores take float32 only as named lower formats.
Result<PeakUse> tensor_use(const Problem& p, const Schedule& s) {
  switch (p.type_a) {
    case Type::bf16:
      return PeakUse{"bf16", 1};
    case Type::f16:
      return PeakUse{"f16", 1};
    case Type::f8e4m3:
    case Type::f8e5m2:
      return PeakUse{"f8", 1};
    case Type::f64:
      return bad_request("explain: type is f64, and " + named(s) +
                         " multiplies 8 to 32 bits on tensor cores; take schedule \"square_tile\"");
    case Type::f32:
      break;
  }
  switch (p.compute) {
    case Compute::tf32:
      return PeakUse{"tf32", 1};
    case Compute::f32_tf32x3:
      return PeakUse{"tf32", 3};
    case Compute::f32_bf16x6:
      return PeakUse{"bf16", 6};
    case Compute::f32_bf16x9:
      return PeakUse{"bf16", 9};
    default:
      return bad_request("explain: float32 means float32 accuracy, and " + named(s) +
                         " multiplies on tensor cores; name a compute (tf32, f32_tf32x3, "
                         "f32_bf16x6, f32_bf16x9), or take schedule \"square_tile\"");
  }
}

}  // namespace

Result<PeakUse> peak_use(const Problem& problem, const Schedule& schedule) {
  if (auto ok = check_compute(problem, schedule); !ok) return std::unexpected(ok.error());
  switch (arithmetic_of(schedule)) {
    case Arithmetic::cpu:
      return PeakUse{problem.type_a == Type::f64 ? "f64" : "f32", 1};
    case Arithmetic::lanes:
      return lanes_use(problem, schedule);
    case Arithmetic::mma:
    case Arithmetic::wgmma:
      return tensor_use(problem, schedule);
  }
  return PeakUse{};
}

int compute_capability(const Machine& machine) {
  const std::string_view text = machine.architecture;
  int value = 0;
  if (text.starts_with("sm_")) std::from_chars(text.data() + 3, text.data() + text.size(), value);
  return value;
}

}  // namespace tilewise
