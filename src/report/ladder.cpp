#include "report/ladder.h"

#include <algorithm>

#include "report/card_peaks.h"
#include "report/element_check.h"
#include "schedule/honours.h"
#include "tilewise/units.h"

namespace tilewise {
namespace {

std::string rung_of(const Schedule& schedule, const KernelFiles& files) {
  const auto file = find_kernel_file(files, schedule.kernel);
  if (!file || !file->starts_with("ladder/")) return {};
  return file->substr(std::string_view("ladder/").size(), 2);
}

// With an epilogue: the same elements, through it.
Result<gpu::MeasuredError> check_through_epilogue(const Problem& p, const Schedule& schedule,
                                                  const gpu::RotatedOperands& operands) {
  constexpr std::int64_t kSamples = 4096;
  constexpr double kDoubleRoundoff = 0x1p-53;
  const auto samples = gpu::sample_elements(p, kSamples);
  const auto at = operands[0];
  const auto sums = gpu::sample_product(p, at.a, at.b, at.d, samples);
  if (!sums) return std::unexpected(sums.error());
  const auto host = operands.first_copy();
  if (!host) return std::unexpected(host.error());
  std::vector<const void*> others;
  for (const auto& other : host->others) others.push_back(other.data());
  const ComputedProduct product{.problem = p,
                                .schedule = schedule,
                                .a = nullptr,
                                .b = nullptr,
                                .c = host->c.data(),
                                .d = host->d.data(),
                                .operands = others};
  ElementCheck check(product);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    check.add(samples[i].batch, {samples[i].m, samples[i].n}, sums->sums[i], sums->magnitudes[i],
              kDoubleRoundoff * static_cast<double>(p.k + 1) * sums->magnitudes[i]);
  }
  const Verification& v = check.result();
  return gpu::MeasuredError{v.max_error, v.worst.expected.error, v.worst_share, v.passed()};
}

// Errors that say that this schedule cannot take this problem here, not that the device failed.
bool is_refusal(const Error& error) {
  return error.code == ErrorCode::bad_request || error.code == ErrorCode::missing_capability;
}

}  // namespace

std::optional<double> wavefront_limit(const Problem& problem, const Schedule& schedule, int num_sms,
                                      int clock_mhz) {
  const auto units = count_units(problem, schedule);
  if (!units) return {};
  const auto wavefronts = [&](Direction direction) {
    double sum = 0;
    for (const TrafficRow& row : units->rows) {
      if (row.level == "shared" && row.unit == "wavefronts" && row.direction == direction) {
        sum += row.value.to_double();
      }
    }
    return sum;
  };
  const double reads = wavefronts(Direction::read);
  if (reads == 0 || num_sms == 0 || clock_mhz == 0) return {};
  const double writes = schedule.copy == Copy::cp_async ? 0 : wavefronts(Direction::write);
  const double us = (reads + writes) / num_sms / clock_mhz;
  const double flops = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
                       static_cast<double>(problem.k) * static_cast<double>(problem.batch);
  return flops / us * 1e-6;
}

Result<std::vector<Schedule>> ladder_schedules(const Problem& problem) {
  const auto files = gpu::kernel_files();
  if (!files) return std::unexpected(files.error());
  std::vector<Schedule> schedules;
  for (const Schedule& schedule : named_schedules()) {
    if (schedule.device != Device::gpu || schedule.compute != problem.compute) continue;
    const auto file = find_kernel_file(*files, schedule.kernel);
    if (!file) continue;
    const auto types = schedule_types(schedule, header_line(files->at(*file), "Needs"));
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
  const CardPeaks peaks = card_peaks(ladder.card, request.problem);
  ladder.peak_tflops = peaks.tflops;
  ladder.peak_source = peaks.source;
  ladder.bandwidth_gbps = peaks.bandwidth_gbps;
  const auto operands =
      gpu::RotatedOperands::create(request.problem, request.seed, *context->device, stream->get());
  if (!operands) return std::unexpected(operands.error());
  ladder.copies = operands->copies();

  const gpu::ResultCheck check = request.problem.epilogue.is_identity()
                                     ? gpu::check_samples()
                                     : gpu::ResultCheck(check_through_epilogue);
  if (request.against_cublaslt) {
    auto rival = gpu::measure_cublaslt(request.problem, *operands, stream->get(), request.timing);
    if (!rival) return std::unexpected(rival.error());
    ladder.rival = std::move(*rival);
  }
  for (const Schedule& schedule : request.schedules) {
    auto measured =
        gpu::measure(request.problem, schedule, *operands, stream->get(), request.timing, check);
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
    row.wavefront_tflops =
        wavefront_limit(request.problem, schedule, ladder.card.num_sms, ladder.card.clock_mhz)
            .value_or(0);
    ladder.rows.push_back(std::move(row));
  }
  return ladder;
}

}  // namespace tilewise
