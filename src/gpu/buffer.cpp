#include "gpu/buffer.h"

namespace tilewise::gpu {
namespace {

// An object exists only after driver() succeeded.
const DriverFunctions& call() { return (*driver())->call; }

}  // namespace

Result<DeviceBuffer> DeviceBuffer::allocate(std::size_t bytes) {
  if (auto opened = driver(); !opened) return std::unexpected(opened.error());
  DeviceBuffer buffer;
  if (bytes == 0) return buffer;
  if (auto ok = check(call().mem_alloc(&buffer.address_, bytes), "cuMemAlloc",
                      "allocating " + std::to_string(bytes) + " bytes");
      !ok) {
    return std::unexpected(ok.error());
  }
  buffer.bytes_ = bytes;
  return buffer;
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) call().mem_free(address_);
}

Result<void> DeviceBuffer::copy_from_host(const void* source, std::size_t bytes,
                                          std::size_t offset_bytes) const {
  if (bytes == 0) return {};
  return check(call().copy_to_device(address_ + offset_bytes, source, bytes), "cuMemcpyHtoD");
}

Result<void> DeviceBuffer::copy_to_host(void* target, std::size_t bytes) const {
  if (bytes == 0) return {};
  return check(call().copy_to_host(target, address_, bytes), "cuMemcpyDtoH");
}

Result<void> DeviceBuffer::fill(unsigned char value) const {
  if (bytes_ == 0) return {};
  if (auto ok = check(call().set_bytes(address_, value, bytes_, nullptr), "cuMemsetD8Async"); !ok) {
    return ok;
  }
  return check(call().stream_synchronize(nullptr), "cuStreamSynchronize");
}

Result<Stream> Stream::create() {
  if (auto opened = driver(); !opened) return std::unexpected(opened.error());
  CuStream stream = nullptr;
  if (auto ok = check(call().stream_create(&stream, kCuStreamNonBlocking), "cuStreamCreate"); !ok) {
    return std::unexpected(ok.error());
  }
  return Stream(stream);
}

Stream::~Stream() {
  if (stream_ != nullptr) call().stream_destroy(stream_);
}

Result<void> Stream::synchronize() const {
  return check(call().stream_synchronize(stream_), "cuStreamSynchronize");
}

Result<Event> Event::create() {
  if (auto opened = driver(); !opened) return std::unexpected(opened.error());
  CuEvent event = nullptr;
  if (auto ok = check(call().event_create(&event, 0), "cuEventCreate"); !ok) {
    return std::unexpected(ok.error());
  }
  return Event(event);
}

Event::~Event() {
  if (event_ != nullptr) call().event_destroy(event_);
}

Result<void> Event::record(CuStream stream) const {
  return check(call().event_record(event_, stream), "cuEventRecord");
}

Result<void> Event::synchronize() const {
  return check(call().event_synchronize(event_), "cuEventSynchronize");
}

Result<double> Event::milliseconds_since(const Event& start) const {
  float milliseconds = 0;
  if (auto ok =
          check(call().event_elapsed_ms(&milliseconds, start.event_, event_), "cuEventElapsedTime");
      !ok) {
    return std::unexpected(ok.error());
  }
  return milliseconds;
}

}  // namespace tilewise::gpu
