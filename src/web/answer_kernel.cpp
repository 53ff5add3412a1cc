#include "schedule/honours.h"
#include "web/answer.h"

namespace tilewise::web {
namespace {

Result<void> check_run(const Request& r) {
  const Library& l = *r.library;
  const auto needs = check_needs(l.kernels, r.problem, r.schedule, r.machine->architecture);
  return needs ? check_honoured(l.kernels, r.schedule, l.schedules) : needs;
}

}  // namespace

Answer answer_kernel(const Request& r) {
  const Library& l = *r.library;
  std::string kernel = r.schedule.kernel, refusal;
  const bool gpu = r.schedule.device == Device::gpu && r.machine->device == Device::gpu;
  if (gpu && kernel.empty()) {
    const auto found =
        kernel_that_runs(l.kernels, r.problem, r.schedule, r.machine->architecture, l.schedules);
    found ? kernel = *found : refusal = found.error().message;
  } else if (gpu) {
    if (auto runs = check_run(r); !runs) refusal = runs.error().message;
  }
  const auto file = find_kernel_file(l.kernels, kernel);
  JsonWriter w;
  w.begin_object();
  w.member("named", !r.schedule.kernel.empty());
  w.member("kernel", kernel);
  w.key("file");
  file ? w.value(*file) : w.null();
  w.member("refusal", refusal);
  w.end_object();
  return std::move(w).finish();
}

}  // namespace tilewise::web
