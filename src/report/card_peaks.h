// What a card can reach, by its machine file.
#pragma once

#include <string>

#include "gpu/device.h"
#include "tilewise/machine.h"
#include "tilewise/problem.h"

namespace tilewise {

struct CardPeaks {
  std::string machine;        // "h200"; "" where no file describes the card
  double tflops = 0;          // of the problem's arithmetic: measured where known, else stated
  std::string source;         // where that figure is from
  double bandwidth_gbps = 0;  // of device memory, likewise
};
[[nodiscard]] CardPeaks card_peaks(const gpu::GpuDevice& card, const Problem& problem);

// The machine file of this machine's first GPU. Errors (missing_capability): no GPU, or no file.
[[nodiscard]] Result<Machine> card_machine();

}  // namespace tilewise
