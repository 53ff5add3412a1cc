#include <array>

#include "cli/verb.h"

namespace tilewise::cli {

extern const Verb kRunVerb;
extern const Verb kBenchVerb;
extern const Verb kBoundVerb;
extern const Verb kCountVerb;
extern const Verb kDevicesVerb;
extern const Verb kLadderVerb;
extern const Verb kExplainVerb;
extern const Verb kExploreVerb;
extern const Verb kMachinesVerb;
extern const Verb kMmaVerb;
extern const Verb kSimulateVerb;
extern const Verb kSchedulesVerb;

std::span<const Verb* const> verbs() {
  static constexpr std::array kVerbs = {
      &kRunVerb, &kCountVerb,  &kSimulateVerb, &kBoundVerb,    &kExplainVerb,   &kExploreVerb,
      &kMmaVerb, &kLadderVerb, &kDevicesVerb,  &kMachinesVerb, &kSchedulesVerb, &kBenchVerb};
  return kVerbs;
}

}  // namespace tilewise::cli
