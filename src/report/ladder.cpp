#include "report/ladder.h"

#include <algorithm>
#include <cctype>

#include "gpu/honours.h"
#include "tilewise/machine.h"

namespace tilewise {
namespace {

std::string rung_of(const Schedule& schedule, const gpu::KernelFiles& files) {
  const auto file = gpu::find_kernel_file(files, schedule.kernel);
  if (!file || !file->starts_with("ladder/")) return {};
  return file->substr(std::string_view("ladder/").size(), 2);
}

// The machine file of a card, by the word that its name holds.
Result<Machine> machine_of(const gpu::GpuDevice& card) {
  for (const Machine& machine : named_machines()) {
    std::string name = machine.name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (card.name.find(name) != std::string::npos) return machine;
  }
  return missing_capability("no machine file describes " + card.name);
}

std::string_view peak_name(const Problem& problem) {
  if (problem.compute == Compute::tf32) return "tf32";
  switch (problem.type_a) {
    case Type::f64:
      return "f64";
    case Type::f32:
      return "f32";
    case Type::bf16:
      return "bf16";
    case Type::f16:
      return "f16";
    case Type::f8e4m3:
    case Type::f8e5m2:
      return "f8";
  }
  return "";
}

void set_peaks(Ladder& ladder) {
  const Result<Machine> machine = machine_of(ladder.card);
  if (!machine) return;
  if (const MemoryLevel* dram = find_memory(*machine, "dram")) {
    const bool measured = dram->measured_bandwidth_gbps.value > 0;
    ladder.bandwidth_gbps = (measured ? dram->measured_bandwidth_gbps : dram->bandwidth_gbps).value;
  }
  const Peak* peak = find_peak(*machine, peak_name(ladder.problem));
  if (peak == nullptr) return;
  const bool measured = peak->measured_tflops.value > 0;
  ladder.peak_tflops = (measured ? peak->measured_tflops : peak->tflops).value;
  ladder.peak_source = (measured ? peak->measured_tflops : peak->tflops).source;
}

// Errors that say that this schedule cannot take this problem here, not that the device failed.
bool is_refusal(const Error& error) {
  return error.code == ErrorCode::bad_request || error.code == ErrorCode::missing_capability;
}

}  // namespace

Result<std::vector<Schedule>> ladder_schedules(const Problem& problem) {
  const auto files = gpu::kernel_files();
  if (!files) return std::unexpected(files.error());
  std::vector<Schedule> schedules;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.device != Device::gpu || schedule.compute != problem.compute) continue;
    const auto file = gpu::find_kernel_file(*files, schedule.kernel);
    if (!file) continue;
    const auto types = gpu::schedule_types(schedule, gpu::header_line(files->at(*file), "Needs"));
    if (std::ranges::find(types, problem.type_a) == types.end()) continue;
    const auto rung = [&](const Schedule& each) { return rung_of(each, *files); };
    schedules.insert(std::ranges::upper_bound(schedules, rung(schedule), {}, rung), schedule);
  }
  if (schedules.empty()) {
    return bad_request("no rung multiplies " + std::string(to_string(problem.type_a)) +
                       " with compute " + std::string(to_string(problem.compute)));
  }
  return schedules;
}

Result<Ladder> run_ladder(const LadderRequest& request) {
  const auto context = gpu::find_context(nullptr);
  if (!context) return std::unexpected(context.error());
  const auto scope = gpu::ContextScope::enter(context->context);
  if (!scope) return std::unexpected(scope.error());
  const auto stream = gpu::Stream::create();
  if (!stream) return std::unexpected(stream.error());
  const auto files = gpu::kernel_files();
  if (!files) return std::unexpected(files.error());

  Ladder ladder;
  ladder.problem = request.problem;
  ladder.card = *context->device;
  ladder.driver_version = (*gpu::driver())->version;
  if (const auto compiler = gpu::nvrtc()) ladder.compiler = (*compiler)->version();
  set_peaks(ladder);
  const auto operands =
      gpu::RotatedOperands::create(request.problem, request.seed, *context->device, stream->get());
  if (!operands) return std::unexpected(operands.error());
  ladder.copies = operands->copies();

  if (request.against_cublaslt) {
    auto rival = gpu::measure_cublaslt(request.problem, *operands, stream->get(), request.timing);
    if (!rival) return std::unexpected(rival.error());
    ladder.rival = std::move(*rival);
  }
  for (const Schedule& schedule : request.schedules) {
    auto measured =
        gpu::measure(request.problem, schedule, *operands, stream->get(), request.timing);
    if (!measured) {
      if (!request.skip_refused) return std::unexpected(measured.error());
      ladder.failed = ladder.failed || !is_refusal(measured.error());
      ladder.skipped.push_back(schedule.name + ": " + measured.error().message);
      continue;
    }
    auto counted = count_levels(request.problem, schedule);
    if (!counted) return std::unexpected(counted.error());
    LadderRow row{rung_of(schedule, *files), std::move(*measured), std::move(*counted)};
    if (ladder.peak_tflops > 0) row.share_of_peak = row.measured.tflops / ladder.peak_tflops;
    if (ladder.rival) row.ratio = ladder.rival->time.median_us / row.measured.time.median_us;
    ladder.rows.push_back(std::move(row));
  }
  return ladder;
}

}  // namespace tilewise
