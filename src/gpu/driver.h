// The CUDA driver, opened when first asked for; its errors as values.
#pragma once

#include <string>
#include <string_view>

#include "gpu/driver_types.h"
#include "tilewise/result.h"

namespace tilewise::gpu {

struct DriverFunctions {
#define TILEWISE_DECLARE(member, symbol, ...) CuResult (*member)(__VA_ARGS__) = nullptr;
  TILEWISE_DRIVER_FUNCTIONS(TILEWISE_DECLARE)
#undef TILEWISE_DECLARE
};

struct Driver {
  DriverFunctions call;
  int version = 0;  // 13000 is 13.0
  std::string path;
};

// Opens libcuda and initialises it, once a process; later calls return the same answer. Errors
// (missing_capability): no driver, one too old, no device.
[[nodiscard]] Result<const Driver*> driver();

// Turns a driver's result into an error that names the function, the CUDA error and what was being
// done: `cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory; allocating 1024 bytes`. An error
// that ends a context (an illegal address of an earlier kernel) is told in full once, and later
// calls only say that the context was lost to it.
[[nodiscard]] Result<void> check(CuResult result, std::string_view function,
                                 std::string_view doing = {});

// Whether an error code leaves the context unusable for the rest of the process.
[[nodiscard]] bool is_sticky(CuResult result);

}  // namespace tilewise::gpu
