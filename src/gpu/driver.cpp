#include "gpu/driver.h"

#include <array>
#include <atomic>

#include "gpu/dynamic_library.h"

namespace tilewise::gpu {
namespace {

using GetProcAddress = CuResult (*)(const char*, void**, int, std::uint64_t, int*);

constexpr int kInterfaceVersion = 12000;  // kernels that belong to no context came with 12.0

// The driver's own lookup gives the version of each function that 12.0 had.
Result<void> load_functions(const DynamicLibrary& library, DriverFunctions& call) {
  const auto get = reinterpret_cast<GetProcAddress>(library.find("cuGetProcAddress_v2"));
  if (get == nullptr) {
    return missing_capability("the CUDA driver " + library.path() +
                              " is older than 12.0; tilewise needs 12.0 or later");
  }
  const auto find = [&](const char* name, void** pointer) -> bool {
    int status = 0;
    return get(name, pointer, kInterfaceVersion, 0, &status) == kCuSuccess && *pointer != nullptr;
  };
#define TILEWISE_LOAD(member, symbol, ...)                                                      \
  if (!find(#symbol, reinterpret_cast<void**>(&call.member))) {                                 \
    return missing_capability("the CUDA driver " + library.path() +                             \
                              " has no " #symbol "; tilewise needs a driver of 12.0 or later"); \
  }
  TILEWISE_DRIVER_FUNCTIONS(TILEWISE_LOAD)
#undef TILEWISE_LOAD
  return {};
}

std::string describe(const DriverFunctions* call, CuResult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (call != nullptr && call->get_error_name != nullptr) {
    call->get_error_name(result, &name);
    call->get_error_string(result, &text);
  }
  return std::string(name == nullptr ? "CUDA error" : name) + " (" + std::to_string(result) + ")" +
         (text == nullptr ? "" : std::string(", ") + text);
}

Result<Driver> open_driver() {
  const std::array<std::string, 2> candidates = {"libcuda.so.1",
                                                 "/usr/local/nvidia/lib64/libcuda.so.1"};
  auto library = DynamicLibrary::open("the CUDA driver", candidates);
  if (!library) return std::unexpected(library.error());
  Driver driver;
  driver.path = library->path();
  if (auto loaded = load_functions(*library, driver.call); !loaded) {
    return std::unexpected(loaded.error());
  }
  int count = 0;
  CuResult result = driver.call.init(0);
  if (result == kCuSuccess) result = driver.call.device_get_count(&count);
  if (result != kCuSuccess) {
    return missing_capability("no usable GPU: cuInit: " + describe(&driver.call, result));
  }
  if (count == 0) return missing_capability("the CUDA driver finds no GPU");
  driver.call.driver_get_version(&driver.version);
  return driver;
}

const Result<Driver>& the_driver() {
  static const Result<Driver> opened = open_driver();
  return opened;
}

// The sticky error that was told first; 0: none yet.
std::atomic<CuResult> reported_sticky{kCuSuccess};

}  // namespace

Result<const Driver*> driver() {
  const Result<Driver>& opened = the_driver();
  if (!opened) return std::unexpected(opened.error());
  return &*opened;
}

bool is_sticky(CuResult result) {
  switch (result) {
    case 214:  // uncorrectable ECC error
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // context is destroyed
    case 710:  // device-side assert
    case 714:
    case 715:
    case 716:
    case 717:
    case 718:  // stack, instruction, alignment, space, counter
    case 719:  // launch failed
    case 721:  // tensor memory leak
      return true;
    default:
      return false;
  }
}

Result<void> check(CuResult result, std::string_view function, std::string_view doing) {
  if (result == kCuSuccess) return {};
  const Result<Driver>& opened = the_driver();
  const DriverFunctions* call = opened ? &opened->call : nullptr;
  const std::string what = describe(call, result);
  std::string message = std::string(function) + ": " + what;
  if (!doing.empty()) message += "; " + std::string(doing);
  if (result == kCuErrorOutOfMemory) return out_of_memory(message);
  if (!is_sticky(result)) return std::unexpected(Error{ErrorCode::internal, message});

  CuResult none = kCuSuccess;
  if (!reported_sticky.compare_exchange_strong(none, result) && none == result) {
    return std::unexpected(Error{ErrorCode::internal,
                                 std::string(function) + ": the CUDA context was lost earlier to " +
                                     what + "; restart the process"});
  }
  return std::unexpected(Error{
      ErrorCode::internal,
      message + "; an earlier kernel of this context caused it (asynchronous errors are seen by "
                "a later call), and the context cannot be used any more: restart the process"});
}

}  // namespace tilewise::gpu
