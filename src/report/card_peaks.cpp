#include "report/card_peaks.h"

#include <algorithm>
#include <cctype>

namespace tilewise {
namespace {

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

}  // namespace

Result<Machine> card_machine() {
  const auto devices = gpu::gpu_devices();
  if (!devices) return std::unexpected(devices.error());
  return machine_of(devices->front());
}

CardPeaks card_peaks(const gpu::GpuDevice& card, const Problem& problem) {
  CardPeaks peaks;
  const Result<Machine> machine = machine_of(card);
  if (!machine) return peaks;
  peaks.machine = machine->name;
  if (const MemoryLevel* dram = find_memory(*machine, "dram")) {
    const bool measured = dram->measured_bandwidth_gbps.value > 0;
    peaks.bandwidth_gbps = (measured ? dram->measured_bandwidth_gbps : dram->bandwidth_gbps).value;
  }
  const Peak* peak = find_peak(*machine, peak_name(problem));
  if (peak == nullptr) return peaks;
  const bool measured = peak->measured_tflops.value > 0;
  peaks.tflops = (measured ? peak->measured_tflops : peak->tflops).value;
  peaks.source = (measured ? peak->measured_tflops : peak->tflops).source;
  return peaks;
}

}  // namespace tilewise
