#include "cpu/cpu_plan.h"

#include <algorithm>
#include <string>

#include "cpu/cpu_count.h"
#include "cpu/float_environment.h"
#include "cpu/packed_product.h"
#include "cpu/packed_schedule.h"
#include "cpu/pool.h"
#include "cpu/targets.h"
#include "cpu/workspace_pool.h"

namespace tilewise::cpu {
namespace {

constexpr int kMostThreads = 1024;
// Waking a thread costs some 20 us: it is worth it from about this much work for each.
constexpr double kFlopsPerThread = 2e6;

class CpuPlan final : public PlanImplementation {
 public:
  CpuPlan(PlanDescription description, PackedProduct product)
      : PlanImplementation(std::move(description)),
        product_(product),
        workspaces_(this->description().workspace_bytes) {}

  Result<void> run(const RunArguments& arguments) const override {
    if (!arguments.workspace.empty()) {
      run_in(arguments, arguments.workspace.data());
      return {};
    }
    Workspace workspace = workspaces_.take();
    if (!workspace) {
      return out_of_memory("run: the workspace of " +
                           std::to_string(description().workspace_bytes) +
                           " bytes could not be allocated; use fewer threads or smaller tiles");
    }
    run_in(arguments, workspace.get());
    workspaces_.give(std::move(workspace));
    return {};
  }

 private:
  static constexpr std::uintptr_t kCacheLine = 64;

  void run_in(const RunArguments& arguments, std::byte* workspace) const {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace);
    std::byte* const aligned = workspace + (kCacheLine - address % kCacheLine) % kCacheLine;
    Pool::instance().run(
        product_.num_tasks(), description().threads, [&](std::int64_t task, int slot) {
          const FloatEnvironment floats;
          product_.run(task, arguments, aligned + slot * product_.workspace_bytes());
        });
  }

  PackedProduct product_;
  mutable WorkspacePool workspaces_;
};

std::string type_list(const Problem& p) {
  return std::string(to_string(p.type_a)) + " x " + std::string(to_string(p.type_b)) + " -> " +
         std::string(to_string(p.type_d));
}

bool is_f8(Type type) { return type == Type::f8e4m3 || type == Type::f8e5m2; }

Result<void> check_problem(const Problem& p) {
  const bool is_f64 = p.compute == Compute::f64;
  if (is_f8(p.type_a) || is_f8(p.type_b) || is_f8(p.type_d) || p.scale != Scale::none) {
    return missing_capability("prepare: types are " + type_list(p) + " with scale " +
                              std::string(to_string(p.scale)) +
                              "; the CPU has f64, f32, bf16 and f16 with scale none");
  }
  if (!is_f64 && p.compute != Compute::f32) {
    return missing_capability("prepare: compute is " + std::string(to_string(p.compute)) +
                              "; the CPU has f32 and f64");
  }
  if (p.type_a == Type::f64 && !is_f64) {
    return bad_request("prepare: A and B are f64 but compute is " +
                       std::string(to_string(p.compute)) + "; ask for compute f64");
  }
  const bool narrow_inputs = size_bytes(p.type_a) < 4 || size_bytes(p.type_b) < 4;
  const bool narrow_output = size_bytes(p.type_d) < 4;
  if (is_f64 && (narrow_inputs || narrow_output)) {
    return missing_capability("prepare: compute is f64 with types " + type_list(p) +
                              "; with f64 the CPU has f64 and f32");
  }
  if (p.groups != 0) {
    return missing_capability("prepare: groups is " + std::to_string(p.groups) +
                              "; the CPU has batches (batch, and strides of 0 to share a matrix)");
  }
  return {};
}

CacheSizes caches_of(const Machine& machine) {
  CacheSizes caches = read_cache_sizes();
  if (machine.device != Device::cpu) return caches;
  const auto bytes = [&](std::string_view name, std::int64_t otherwise) {
    const MemoryLevel* level = find_memory(machine, name);
    const double value = level != nullptr ? level->capacity_bytes.value : 0;
    return value > 0 ? static_cast<std::int64_t>(value) : otherwise;
  };
  caches.l1_bytes = bytes("l1", caches.l1_bytes);
  caches.l2_bytes = bytes("l2", caches.l2_bytes);
  caches.l3_bytes = bytes("l3", caches.l3_bytes);
  return caches;
}

// The target that is asked for; else the one whose register tile the schedule has; else the best.
Result<const KernelTable*> find_kernels(const Schedule* schedule, const PrepareOptions& options) {
  const Tile* tile = schedule != nullptr ? find_tile(*schedule, Level::register_tile) : nullptr;
  if (!options.target.empty() || tile == nullptr) return choose_target(options.target);
  const Type accumulator = schedule->compute == Compute::f64 ? Type::f64 : Type::f32;
  const auto target = target_of_register_tile(tile->m, tile->n, accumulator);
  auto table = choose_target(target);
  if (!table && !target.empty()) {
    constexpr std::string_view kPrepare = "prepare: ";
    table.error().message.insert(kPrepare.size(), "schedule \"" + schedule->name +
                                                      "\" has the register tile of " +
                                                      std::string(target) + ", and ");
  }
  return table;
}

int choose_threads(const Problem& p, const PrepareOptions& options) {
  if (options.threads > 0) return std::min(options.threads, kMostThreads);
  const double worth = std::min(num_flops(p) / kFlopsPerThread, 1.0 * kMostThreads);
  return std::clamp(static_cast<int>(worth), 1, std::min(usable_cpus(), kMostThreads));
}

}  // namespace

Result<std::shared_ptr<const PlanImplementation>> make_plan(const Problem& problem,
                                                            const Schedule* schedule,
                                                            const Machine& machine,
                                                            const PrepareOptions& options) {
  if (auto ok = check_problem(problem); !ok) return std::unexpected(ok.error());
  const auto table = find_kernels(schedule, options);
  if (!table) return std::unexpected(table.error());
  const KernelTable& kernels = **table;
  const bool is_f64 = problem.compute == Compute::f64;
  const KernelShape shape{.target = kernels.target,
                          .mr = is_f64 ? kernels.f64.mr : kernels.f32.mr,
                          .nr = is_f64 ? kernels.f64.nr : kernels.f32.nr,
                          .accumulator = is_f64 ? Type::f64 : Type::f32};
  int threads = choose_threads(problem, options);
  const Schedule chosen = schedule != nullptr
                              ? *schedule
                              : fit_packed_schedule(problem, shape, caches_of(machine), threads);
  const auto tiles = resolve_packed_schedule(chosen, problem, shape);
  if (!tiles) return std::unexpected(tiles.error());

  PackedProduct product(problem, kernels, *tiles, chosen.order.kind == Order::Kind::column,
                        shape.accumulator);
  threads = static_cast<int>(std::clamp<std::int64_t>(product.num_tasks(), 1, threads));
  constexpr std::int64_t kCacheLine = 64;  // to align a workspace that is not
  if (product.workspace_bytes() < 0 ||
      product.workspace_bytes() > (INT64_MAX - kCacheLine) / threads) {
    return out_of_memory("prepare: the tiles of schedule \"" + chosen.name +
                         "\" need more than 2^62 bytes of workspace; take smaller tiles");
  }
  PlanDescription description{.problem = problem,
                              .schedule = chosen,
                              .device = Device::cpu,
                              .target = kernels.target,
                              .threads = threads,
                              .workspace_bytes = static_cast<std::size_t>(
                                  product.workspace_bytes() * threads + kCacheLine)};
  return std::make_shared<const CpuPlan>(std::move(description), product);
}

}  // namespace tilewise::cpu
