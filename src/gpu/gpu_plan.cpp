#include "gpu/gpu_plan.h"

#include <algorithm>
#include <cstdint>

#include "gpu/choose_schedule.h"
#include "gpu/tensor_maps.h"
#include "gpu/translation_unit.h"
#include "schedule/honours.h"

namespace tilewise::gpu {
namespace {

constexpr std::uintptr_t kAlignedBytes = 16;
constexpr std::uintptr_t kWorkspaceAlignment = 256;

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kAlignedBytes == 0;
}

MatrixArgument matrix(const void* data, const Strides& strides) {
  return {const_cast<void*>(data), strides.row, strides.column, strides.batch};
}

KernelArguments kernel_arguments(const Problem& p, const RunArguments& run) {
  KernelArguments k = {};
  k.m = p.m;
  k.n = p.n;
  k.k = p.k;
  k.batch = p.batch;
  k.a = matrix(run.a, p.a);
  k.b = matrix(run.b, p.b);
  k.c = matrix(run.c, p.c);
  k.d = matrix(run.d, p.d);
  static_assert(kMaxOperands == Epilogue::kMaxOperands);
  for (int i = 0; i < p.epilogue.num_operands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    k.operands[i] = matrix(run.operands[at], p.epilogue.operands[at].strides);
  }
  return k;
}

void advance(MatrixArgument& matrix, Type type, std::int64_t batches) {
  if (matrix.data == nullptr) return;
  matrix.data = static_cast<char*>(matrix.data) + batches * matrix.batch * size_bytes(type);
}

// Moves every operand `batches` matrices on.
void advance(KernelArguments& k, const Problem& p, std::int64_t batches) {
  advance(k.a, p.type_a, batches);
  advance(k.b, p.type_b, batches);
  advance(k.c, p.type_c, batches);
  advance(k.d, p.type_d, batches);
  for (int i = 0; i < p.epilogue.num_operands; ++i) {
    advance(k.operands[i], p.epilogue.operands[static_cast<std::size_t>(i)].type, batches);
  }
}

Result<void> check_base(const char* name, const void* data, int base_bytes,
                        const std::string& kernel) {
  const auto past =
      reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(base_bytes);
  if (past == 0) return {};
  return bad_request(std::string("run: the address of ") + name + " is " + std::to_string(past) +
                     " bytes past a multiple of " + std::to_string(base_bytes) +
                     ", which kernel \"" + kernel + "\" needs; align it, or take schedule \"mma\"");
}

// What the kernels do not do at all, whatever the schedule.
Result<void> check_problem(const Problem& p) {
  if (p.scale != Scale::none) {
    return bad_request("matmul: scale is " + std::string(to_string(p.scale)) +
                       "; the GPU's kernels have none yet: scale in the epilogue");
  }
  if (p.groups != 0) {
    return bad_request("matmul: groups is " + std::to_string(p.groups) +
                       "; the GPU's kernels take 0, one B for all rows");
  }
  return {};
}

Result<void> check_schedule(const KernelFiles& files, const Problem& p, const Schedule& s,
                            std::string_view architecture) {
  if (s.device != Device::gpu) {
    return bad_request("matmul: schedule \"" + s.name + "\" is for the cpu, not the gpu");
  }
  if (s.compute != p.compute) {
    return bad_request("matmul: compute is " + std::string(to_string(p.compute)) +
                       ", but schedule \"" + s.name + "\" computes " +
                       std::string(to_string(s.compute)) + "; ask for that by name");
  }
  if (auto ok = check_needs(files, p, s, architecture); !ok) return ok;
  if (auto ok = check_honoured(files, s, named_schedules()); !ok) return ok;
  return s.copy == Copy::bulk ? check_bulk_strides(p) : Result<void>();
}

Result<std::size_t> workspace_bytes(const Problem& p, const Schedule& s, const LaunchInfo& info,
                                    int num_sms) {
  const std::int64_t batch = info.persistent ? p.batch : std::min(p.batch, kMaxBatchOfLaunch);
  const auto grid = grid_of(p, batch, s, info, num_sms);
  if (!grid) return std::unexpected(grid.error());
  const std::size_t bytes = workspace_of(p, batch, info, *grid).bytes;
  return bytes == 0 ? 0 : bytes + kWorkspaceAlignment - 1;
}

// A workspace in stream order, where the caller gave none.
class StreamWorkspace {
 public:
  StreamWorkspace(const Driver& driver, CuStream stream) : driver_(driver), stream_(stream) {}
  ~StreamWorkspace() {
    if (address_ != 0) driver_.call.mem_free_async(address_, stream_);
  }
  Result<void*> allocate(std::size_t bytes) {
    if (auto ok = check(driver_.call.mem_alloc_async(&address_, bytes, stream_), "cuMemAllocAsync",
                        "a workspace of " + std::to_string(bytes) + " bytes");
        !ok) {
      return std::unexpected(ok.error());
    }
    return reinterpret_cast<void*>(address_);
  }

 private:
  const Driver& driver_;
  CuStream stream_;
  CuDevicePointer address_ = 0;
};

void* align_workspace(void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return reinterpret_cast<void*>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                 kWorkspaceAlignment);
}

}  // namespace

Result<PreparedKernel> prepare_kernel(const Problem& problem, const Schedule& schedule,
                                      const GpuDevice& device, bool aligned) {
  const auto files = kernel_files();
  if (!files) return std::unexpected(files.error());
  if (auto ok = check_schedule(*files, problem, schedule, device.architecture); !ok) {
    return std::unexpected(ok.error());
  }
  const auto unit =
      write_translation_unit(*files, problem, schedule, make_constants(problem, schedule, aligned));
  if (!unit) return std::unexpected(unit.error());
  auto found = find_kernel(*unit, device.architecture);
  if (!found) return std::unexpected(found.error());
  auto loaded = LoadedKernel::load(found->kernel, schedule.kernel);
  if (!loaded) return std::unexpected(loaded.error());
  if (auto ok = (*loaded)->prepare(device); !ok) return std::unexpected(ok.error());
  const auto file = find_kernel_file(*files, schedule.kernel);
  const std::string needs = file ? header_line(files->at(*file), "Needs") : std::string();
  return PreparedKernel{std::move(*loaded), found->origin, needed_base_bytes(needs)};
}

GpuPlan::GpuPlan(PlanDescription description, PreparedKernel kernel, const GpuDevice& device)
    : PlanImplementation(std::move(description)), kernel_(std::move(kernel)), device_(device) {}

Result<const LoadedKernel*> GpuPlan::kernel_for(const RunArguments& arguments) const {
  const Problem& p = description().problem;
  const bool aligned =
      is_aligned(arguments.a) && is_aligned(arguments.b) && is_aligned(arguments.d);
  if (kernel_.kernel->launch().bulk) {
    if (p.k > 0) {
      if (auto ok = check_bulk_address("A", arguments.a); !ok) return std::unexpected(ok.error());
      if (auto ok = check_bulk_address("B", arguments.b); !ok) return std::unexpected(ok.error());
    }
    return kernel_.kernel.get();
  }
  if (p.k > 0) {
    for (const auto& [name, data] : {std::pair{"A", arguments.a}, std::pair{"B", arguments.b}}) {
      if (auto ok = check_base(name, data, kernel_.base_bytes, description().schedule.kernel);
          !ok) {
        return std::unexpected(ok.error());
      }
    }
  }
  if (aligned || !has_aligned_strides(p)) return kernel_.kernel.get();
  const std::lock_guard lock(mutex_);
  if (unaligned_ == nullptr) {
    auto found = prepare_kernel(p, description().schedule, device_, false);
    if (!found) return std::unexpected(found.error());
    unaligned_ = std::move(found->kernel);
  }
  return unaligned_.get();
}

Result<void> GpuPlan::run(const RunArguments& arguments) const {
  const auto kernel = kernel_for(arguments);
  if (!kernel) return std::unexpected(kernel.error());
  const auto stream = static_cast<CuStream>(arguments.stream);
  const auto context = find_context(stream, device_.handle);
  if (!context) return std::unexpected(context.error());
  if (context->device->architecture != device_.architecture) {
    return bad_request("run: the stream's device is " + context->device->name + " (" +
                       context->device->architecture + "), but the plan was prepared for " +
                       device_.architecture + "; prepare one there");
  }
  const auto scope = ContextScope::enter(context->context);
  if (!scope) return std::unexpected(scope.error());
  if (auto ok = (*kernel)->prepare(*context->device); !ok) return ok;

  KernelArguments k = kernel_arguments(description().problem, arguments);
  k.workspace_bytes = static_cast<std::int64_t>(description().workspace_bytes);
  k.workspace = arguments.workspace.data();
  StreamWorkspace own(**driver(), stream);
  if (k.workspace_bytes > 0 && k.workspace == nullptr) {
    const auto allocated = own.allocate(description().workspace_bytes);
    if (!allocated) return std::unexpected(allocated.error());
    k.workspace = *allocated;
  }
  k.workspace = align_workspace(k.workspace);
  return launch_batches(**kernel, k, stream);
}

Result<void> GpuPlan::launch_batches(const LoadedKernel& kernel, KernelArguments arguments,
                                     CuStream stream) const {
  const Problem& p = description().problem;
  if (kernel.launch().persistent) return launch(kernel, arguments, stream);
  for (std::int64_t done = 0; done < p.batch; done += kMaxBatchOfLaunch) {
    arguments.batch = std::min(p.batch - done, kMaxBatchOfLaunch);
    if (auto ok = launch(kernel, arguments, stream); !ok) return ok;
    advance(arguments, p, kMaxBatchOfLaunch);
  }
  return {};
}

Result<void> GpuPlan::launch(const LoadedKernel& kernel, KernelArguments arguments,
                             CuStream stream) const {
  const Problem& p = description().problem;
  const LaunchInfo& info = kernel.launch();
  auto config = grid_of(p, arguments.batch, description().schedule, info, device_.num_sms);
  if (!config) return std::unexpected(config.error());
  const WorkspaceLayout layout = workspace_of(p, arguments.batch, info, *config);
  if (layout.zeroed_bytes > 0) {
    const auto address = reinterpret_cast<CuDevicePointer>(arguments.workspace);
    if (auto ok = check((*driver())->call.set_bytes(address, 0, layout.zeroed_bytes, stream),
                        "cuMemsetD8Async", "the counters of kernel \"" + kernel.name() + "\"");
        !ok) {
      return ok;
    }
  }
  CuLaunchAttribute cluster;
  if (info.cluster_m * info.cluster_n > 1) {
    cluster.id = CuLaunchAttribute::kClusterDimension;
    cluster.cluster = {static_cast<unsigned>(info.cluster_m * info.cluster_n), 1, 1};
    config->attributes = &cluster;
    config->num_attributes = 1;
  }
  config->stream = stream;
  TensorMaps maps = {};
  if (info.bulk) {
    auto encoded = encode_tensor_maps(p, info, arguments);
    if (!encoded) return std::unexpected(encoded.error());
    maps = *encoded;
  }
  void* parameters[] = {&arguments, &maps};
  return kernel.enqueue(*config, parameters);
}

Result<std::shared_ptr<const GpuPlan>> make_plan(const Problem& problem, const Schedule* schedule) {
  if (auto ok = check_problem(problem); !ok) return std::unexpected(ok.error());
  const auto context = find_context(nullptr);
  if (!context) return std::unexpected(context.error());
  const GpuDevice& device = *context->device;
  const auto chosen = schedule != nullptr ? Result<Schedule>(*schedule)
                                          : choose_schedule(problem, device.architecture);
  if (!chosen) return std::unexpected(chosen.error());
  auto kernel = prepare_kernel(problem, *chosen, device);
  if (!kernel) return std::unexpected(kernel.error());
  const auto bytes = workspace_bytes(problem, *chosen, kernel->kernel->launch(), device.num_sms);
  if (!bytes) return std::unexpected(bytes.error());

  PlanDescription description;
  description.problem = problem;
  description.schedule = *chosen;
  description.device = Device::gpu;
  description.target = device.architecture;
  description.workspace_bytes = *bytes;
  return std::make_shared<const GpuPlan>(std::move(description), std::move(*kernel), device);
}

}  // namespace tilewise::gpu
