// The instruction sets: which are compiled in, which this CPU has, and their kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cpu/kernels/kernel_table.h"
#include "tilewise/result.h"
#include "tilewise/types.h"

namespace tilewise::cpu {

// Compiled into this library, best first.
[[nodiscard]] std::span<const KernelTable* const> compiled_targets();

// The target, compiled in here or not, whose kernel sums m x n outputs in registers in this type;
// "" where there is none.
[[nodiscard]] std::string_view target_of_register_tile(std::int64_t m, std::int64_t n,
                                                       Type accumulator);

// Whether the CPU and the operating system have every instruction that the target's object may use.
[[nodiscard]] bool is_supported(std::string_view target);

// The named target, or the best supported one for "". Errors: unknown name (bad_request), not
// compiled in or not supported here (missing_capability).
[[nodiscard]] Result<const KernelTable*> choose_target(std::string_view name);

// The processor's own name for itself, or "".
[[nodiscard]] std::string processor_name();

}  // namespace tilewise::cpu
