#include "tilewise/machine.h"

namespace tilewise {

const MemoryLevel* find_memory(const Machine& machine, std::string_view name) {
  for (const MemoryLevel& level : machine.memory) {
    if (level.name == name) return &level;
  }
  return nullptr;
}

const Peak* find_peak(const Machine& machine, std::string_view name) {
  for (const Peak& peak : machine.peaks) {
    if (peak.name == name) return &peak;
  }
  return nullptr;
}

}  // namespace tilewise
