// The structures of DLPack 1.x that we read, as its specification fixes them.
#pragma once

#include <cstdint>

namespace tilewise::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum Code : std::uint8_t { kFloat = 2, kBfloat = 4, kFloat8E4m3fn = 10, kFloat8E5m2 = 12 };

struct Device {
  std::int32_t type = kCpu;
  std::int32_t index = 0;
};

struct DataType {
  std::uint8_t code = 0;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t num_dims = 0;
  DataType type;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; null: dense and row-major
  std::uint64_t byte_offset = 0;
};

struct ManagedTensor {  // in a capsule "dltensor"
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};

struct Version {
  std::uint32_t major = 0, minor = 0;
};

struct VersionedTensor {  // in a capsule "dltensor_versioned"
  static constexpr std::uint64_t kReadOnly = 1;
  Version version;
  void* context = nullptr;
  void (*deleter)(VersionedTensor*) = nullptr;
  std::uint64_t flags = 0;
  Tensor tensor;
};

// What a type's __dlpack_c_exchange_api__ points to: the same without a Python call.
struct ExchangeApi {
  using SetError = void (*)(void* context, const char* kind, const char* message);
  Version version;
  ExchangeApi* previous = nullptr;
  int (*allocate)(Tensor* like, VersionedTensor** out, void* context, SetError set_error) = nullptr;
  int (*managed_from_object)(void* object, VersionedTensor** out) = nullptr;
  int (*object_from_managed)(VersionedTensor* tensor, void** out) = nullptr;
  int (*tensor_from_object)(void* object, Tensor* out) = nullptr;  // may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_index, void** out) = nullptr;
};

}  // namespace tilewise::python::dlpack
