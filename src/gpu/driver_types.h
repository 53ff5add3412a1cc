// Our own declarations of the part of CUDA's driver interface that we use, so that building needs
// no cuda.h. tests/gpu/declarations_test.cpp compares each with the toolkit's header where it is
// present.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewise::gpu {

using CuResult = int;  // 0: success
using CuDevice = int;
using CuDevicePointer = unsigned long long;
using CuContext = struct CuContextHandle*;
using CuStream = struct CuStreamHandle*;
using CuEvent = struct CuEventHandle*;
using CuLibrary = struct CuLibraryHandle*;
using CuKernel = struct CuKernelHandle*;
using CuFunction = struct CuFunctionHandle*;  // a CuKernel may be passed as one

constexpr CuResult kCuSuccess = 0;
constexpr CuResult kCuErrorOutOfMemory = 2;
constexpr CuResult kCuErrorNoDevice = 100;

enum class CuDeviceAttribute : int {
  num_sms = 16,
  clock_khz = 13,
  l2_bytes = 38,
  threads_per_sm = 39,
  compute_major = 75,
  compute_minor = 76,
  shared_bytes_per_sm = 81,
  registers_per_sm = 82,
  shared_bytes_per_block_optin = 97,
  memory_pools = 115,
};

enum class CuFunctionAttribute : int {
  static_shared_bytes = 1,
  local_bytes = 3,
  num_registers = 4,
  max_dynamic_shared_bytes = 8,
  non_portable_cluster = 14,
};

// One attribute of a launch; only the cluster's shape is used.
struct CuLaunchAttribute {
  static constexpr int kClusterDimension = 4;
  int id = 0;
  char padding[4] = {};
  union {
    char bytes[64] = {};
    struct {
      unsigned x, y, z;
    } cluster;
  };
};

struct CuLaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;  // dynamic
  CuStream stream = nullptr;
  CuLaunchAttribute* attributes = nullptr;
  unsigned num_attributes = 0;
};

struct alignas(64) CuTensorMap {
  std::uint64_t opaque[16];
};

enum class CuTensorMapType : int { u8 = 0, f16 = 6, f32 = 7, f64 = 8, bf16 = 9, tf32 = 11 };
enum class CuTensorMapSwizzle : int { none = 0, b32 = 1, b64 = 2, b128 = 3 };
constexpr int kCuTensorMapInterleaveNone = 0;
constexpr int kCuTensorMapPromoteL2_256 = 3;
constexpr int kCuTensorMapFillZero = 0;

constexpr unsigned kCuStreamNonBlocking = 1;

}  // namespace tilewise::gpu

// Every driver function that we use: X(member, symbol, parameters...). All return CuResult.
#define TILEWISE_DRIVER_FUNCTIONS(X)                                                             \
  X(init, cuInit, unsigned)                                                                      \
  X(driver_get_version, cuDriverGetVersion, int*)                                                \
  X(get_error_name, cuGetErrorName, CuResult, const char**)                                      \
  X(get_error_string, cuGetErrorString, CuResult, const char**)                                  \
  X(device_get_count, cuDeviceGetCount, int*)                                                    \
  X(device_get, cuDeviceGet, CuDevice*, int)                                                     \
  X(device_get_name, cuDeviceGetName, char*, int, CuDevice)                                      \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, char*, int, CuDevice)                            \
  X(device_get_attribute, cuDeviceGetAttribute, int*, CuDeviceAttribute, CuDevice)               \
  X(device_total_mem, cuDeviceTotalMem, std::size_t*, CuDevice)                                  \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, CuContext*, CuDevice)                      \
  X(context_get_current, cuCtxGetCurrent, CuContext*)                                            \
  X(context_push_current, cuCtxPushCurrent, CuContext)                                           \
  X(context_pop_current, cuCtxPopCurrent, CuContext*)                                            \
  X(context_get_device, cuCtxGetDevice, CuDevice*)                                               \
  X(library_load_data, cuLibraryLoadData, CuLibrary*, const void*, int*, void**, unsigned, int*, \
    void**, unsigned)                                                                            \
  X(library_unload, cuLibraryUnload, CuLibrary)                                                  \
  X(library_get_kernel, cuLibraryGetKernel, CuKernel*, CuLibrary, const char*)                   \
  X(kernel_get_attribute, cuKernelGetAttribute, int*, CuFunctionAttribute, CuKernel, CuDevice)   \
  X(kernel_set_attribute, cuKernelSetAttribute, CuFunctionAttribute, int, CuKernel, CuDevice)    \
  X(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor, int*, CuFunction,  \
    int, std::size_t)                                                                            \
  X(occupancy_max_active_clusters, cuOccupancyMaxActiveClusters, int*, CuFunction,               \
    const CuLaunchConfig*)                                                                       \
  X(launch_kernel, cuLaunchKernelEx, const CuLaunchConfig*, CuFunction, void**, void**)          \
  X(tensor_map_encode_tiled, cuTensorMapEncodeTiled, CuTensorMap*, CuTensorMapType, unsigned,    \
    void*, const std::uint64_t*, const std::uint64_t*, const unsigned*, const unsigned*, int,    \
    CuTensorMapSwizzle, int, int)                                                                \
  X(mem_alloc, cuMemAlloc, CuDevicePointer*, std::size_t)                                        \
  X(mem_free, cuMemFree, CuDevicePointer)                                                        \
  X(mem_alloc_async, cuMemAllocAsync, CuDevicePointer*, std::size_t, CuStream)                   \
  X(mem_free_async, cuMemFreeAsync, CuDevicePointer, CuStream)                                   \
  X(mem_get_info, cuMemGetInfo, std::size_t*, std::size_t*)                                      \
  X(copy_to_device, cuMemcpyHtoD, CuDevicePointer, const void*, std::size_t)                     \
  X(copy_to_host, cuMemcpyDtoH, void*, CuDevicePointer, std::size_t)                             \
  X(copy_on_device, cuMemcpyDtoDAsync, CuDevicePointer, CuDevicePointer, std::size_t, CuStream)  \
  X(set_bytes, cuMemsetD8Async, CuDevicePointer, unsigned char, std::size_t, CuStream)           \
  X(stream_create, cuStreamCreate, CuStream*, unsigned)                                          \
  X(stream_destroy, cuStreamDestroy, CuStream)                                                   \
  X(stream_synchronize, cuStreamSynchronize, CuStream)                                           \
  X(stream_get_context, cuStreamGetCtx, CuStream, CuContext*)                                    \
  X(event_create, cuEventCreate, CuEvent*, unsigned)                                             \
  X(event_destroy, cuEventDestroy, CuEvent)                                                      \
  X(event_record, cuEventRecord, CuEvent, CuStream)                                              \
  X(event_synchronize, cuEventSynchronize, CuEvent)                                              \
  X(event_elapsed_ms, cuEventElapsedTime, float*, CuEvent, CuEvent)
