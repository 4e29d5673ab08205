#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace heed {

/// Starts work of a device that is done again and again, such as a step of decoding, faster than
/// its kernels one by one. Used by one thread at a time.
class GraphRunner {
 public:
  virtual ~GraphRunner() = default;

  /// Does `work`, which this thread may do on the device, and nothing else. Runs with one key start
  /// much the same kernels. Throws what `work` throws; a part of it may then have been done.
  virtual void run(int64_t key, const std::function<void()>& work) = 0;
};

/// A processor beside the host, with memory of its own that the host cannot read: a GPU. It carries
/// out copies, fills and kernels in the order of the calls. A device outlives its memory.
class Device {
 public:
  virtual ~Device() = default;

  /// "GPU 0 (NVIDIA H100 80GB HBM3)".
  virtual const std::string& name() const = 0;

  /// Memory of the device, aligned to 256 bytes, contents undefined. Throws Error, which names the
  /// bytes that are wanted and free.
  virtual std::shared_ptr<std::byte> allocate(size_t bytes) = 0;

  /// Memory of the host, contents undefined, that the device copies to at full speed. Throws Error
  /// if there is none left.
  virtual std::shared_ptr<std::byte> allocate_on_host(size_t bytes) = 0;

  /// `from` may change when this returns.
  virtual void copy_to_device(std::byte* to, std::span<const std::byte> from) = 0;
  /// Waits for everything before it.
  virtual void copy_to_host(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void copy(std::byte* to, const std::byte* from, size_t bytes) = 0;
  virtual void fill(std::byte* to, uint8_t value, size_t bytes) = 0;

  virtual std::unique_ptr<GraphRunner> graph_runner() = 0;
};

/// Where this thread makes tensors and runs kernels; null: on the host.
Device* current_device();

/// This thread makes its tensors and runs its kernels on a device, or on the host (null), while
/// this lives.
class DeviceScope {
 public:
  explicit DeviceScope(Device* device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device* before_;
};

}  // namespace heed
