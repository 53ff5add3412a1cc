// Device memory, streams and events that free themselves; for the command and the tests. The
// library's own products take the caller's pointers.
#pragma once

#include <cstddef>
#include <utility>

#include "gpu/device.h"

namespace tilewise::gpu {

// Bytes of the device of the current context.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  [[nodiscard]] static Result<DeviceBuffer> allocate(std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  [[nodiscard]] void* data() const { return reinterpret_cast<void*>(address_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // Both wait for the copy, and for earlier work of the default stream.
  [[nodiscard]] Result<void> copy_from_host(const void* source, std::size_t bytes,
                                            std::size_t offset_bytes = 0) const;
  [[nodiscard]] Result<void> copy_to_host(void* target, std::size_t bytes) const;
  [[nodiscard]] Result<void> fill(unsigned char value) const;

 private:
  CuDevicePointer address_ = 0;
  std::size_t bytes_ = 0;
};

// A stream that does not wait for the default one.
class Stream {
 public:
  [[nodiscard]] static Result<Stream> create();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream();

  [[nodiscard]] CuStream get() const { return stream_; }
  [[nodiscard]] Result<void> synchronize() const;

 private:
  explicit Stream(CuStream stream) : stream_(stream) {}
  CuStream stream_ = nullptr;
};

class Event {
 public:
  [[nodiscard]] static Result<Event> create();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();

  [[nodiscard]] Result<void> record(CuStream stream) const;
  [[nodiscard]] Result<void> synchronize() const;
  // Milliseconds on the device from `start` to this one; both have passed.
  [[nodiscard]] Result<double> milliseconds_since(const Event& start) const;

 private:
  explicit Event(CuEvent event) : event_(event) {}
  CuEvent event_ = nullptr;
};

}  // namespace tilewise::gpu
