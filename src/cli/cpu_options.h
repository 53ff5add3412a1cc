// The options that say how the CPU runs a product, as verbs share them.
#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/command_line.h"
#include "tilewise/plan.h"

namespace tilewise::cli {

struct CpuOptions {
  std::optional<std::string> threads, target;

  [[nodiscard]] bool any() const { return threads || target; }
};

inline void add_cpu_options(CommandLine& line, CpuOptions& options) {
  line.add_option("--threads", options.threads, "by default all that this process may use")
      .type_name("N");
  line.add_option("--target", options.target, "instruction set: avx512, avx2, sse4, neon")
      .type_name("NAME");
}

// What they ask of prepare().
[[nodiscard]] inline Result<void> read_cpu_options(const CpuOptions& options,
                                                   PrepareOptions& prepare) {
  constexpr std::int64_t kMostThreads = 4096;
  if (options.target) prepare.target = *options.target;
  if (!options.threads) return {};
  const Result<std::int64_t> threads =
      parse_integer("--threads", *options.threads, 1, kMostThreads);
  if (!threads) return std::unexpected(threads.error());
  prepare.threads = static_cast<int>(*threads);
  return {};
}

// Error: one of them beside --device gpu.
[[nodiscard]] inline Result<void> check_no_cpu_options(const CpuOptions& options) {
  if (!options.any()) return {};
  return bad_request(std::string(options.threads ? "--threads" : "--target") +
                     " is for the CPU, and --device is \"gpu\"; leave one out");
}

}  // namespace tilewise::cli
