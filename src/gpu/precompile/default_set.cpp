#include "gpu/precompile/default_set.h"

#include <algorithm>

#include "gpu/choose_schedule.h"
#include "gpu/kernel_files.h"
#include "schedule/bulk_copy.h"
#include "schedule/honours.h"

namespace tilewise::gpu {
namespace {

constexpr std::int64_t kEdge = 1024;  // sizes are no part of a kernel

Problem dense(Type type, std::string_view layout, Type output) {
  Problem p = make_problem(kEdge, kEdge, kEdge, type);
  p.type_c = p.type_d = output;
  set_operand_layout(p, layout);
  return p;
}

bool has_kernel(const Schedule& schedule) {
  const auto files = kernel_files();
  return files && find_kernel_file(*files, schedule.kernel);
}

// The schedule that a product takes by default, and the one that it takes where nothing is aligned.
void add_default(std::vector<PrecompiledKernel>& set, const Problem& problem,
                 const std::string& architecture) {
  const auto chosen = choose_schedule(problem, architecture);
  if (chosen && has_kernel(*chosen)) set.push_back({problem, *chosen, architecture, true});
}

void add_unaligned(std::vector<PrecompiledKernel>& set, Problem problem,
                   const std::string& architecture) {
  ++problem.a.row;  // no row but the first starts on a multiple of 16 bytes
  const auto chosen = choose_schedule(problem, architecture);
  if (chosen && has_kernel(*chosen)) set.push_back({problem, *chosen, architecture, false});
}

void add_named(std::vector<PrecompiledKernel>& set) {
  const auto files = kernel_files();
  if (!files) return;
  for (const Schedule& schedule : named_schedules()) {
    const auto file = find_kernel_file(*files, schedule.kernel);
    if (schedule.device != Device::gpu || !file) continue;
    const std::string needs = header_line(files->at(*file), "Needs");
    for (const Type type : schedule_types(schedule, needs)) {
      const bool is_f8 = size_bytes(type) == 1;
      Problem problem =
          dense(type, default_operand_layout(schedule, type), is_f8 ? Type::bf16 : type);
      problem.compute = schedule.compute;
      set.push_back({problem, schedule, "sm_90a", true});
    }
  }
}

}  // namespace

std::vector<PrecompiledKernel> default_set(bool all) {
  std::vector<PrecompiledKernel> set;
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    for (const Type type : {Type::bf16, Type::f16}) {
      for (const Type output : {type, Type::f32}) {
        add_default(set, dense(type, layout, output), "sm_90a");
      }
    }
    add_default(set, dense(Type::f32, layout, Type::f32), "sm_90a");
  }
  for (const Type output : {Type::bf16, Type::f32}) {
    add_default(set, dense(Type::f8e4m3, "nt", output), "sm_90a");
  }
  for (const char* layout : {"nn", "nt"}) {
    for (const Type type : {Type::bf16, Type::f16, Type::f32}) {
      add_unaligned(set, dense(type, layout, type), "sm_90a");
      add_default(set, dense(type, layout, type), "sm_80");
    }
  }
  if (all) add_named(set);
  return set;
}

}  // namespace tilewise::gpu
