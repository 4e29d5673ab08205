#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/gpu/driver.h"

namespace heed::gpu {

/// What the driver says about a GPU.
struct DeviceProperties {
  std::string name;
  int ordinal;       // from 0, in the order of the driver
  int major, minor;  // compute capability
  size_t memory_bytes;
  int multiprocessors;
  int shared_bytes;  // of a block, at most
};

/// The GPUs of this machine. Throws Error, which says why, if there is no driver or it does not
/// start.
std::vector<DeviceProperties> devices();

/// The grid of a launch, and the threads of a block: a multiple of 32.
struct LaunchShape {
  unsigned x = 1, y = 1, z = 1;
  unsigned threads = 256;
  size_t shared_bytes = 0;
};

/// A GPU with a stream of work: memory, copies and kernels, which happen in the order of the calls.
/// Calls of several threads follow each other in any order. All throw Error, with the driver's
/// text, when the driver refuses; errors of kernels are reported by a later call.
class Device {
 public:
  /// Opens the GPU `ordinal` and loads kernels for it, as nvcc made them; none if heed was built
  /// without nvcc. Throws Error if there is no such GPU, if it is older than compute capability 8.0
  /// or if there are no kernels for it.
  Device(int ordinal, std::span<const std::byte> kernels);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceProperties& properties() const { return properties_; }
  /// Bytes that are free for all processes.
  size_t free_bytes() const;

  /// Memory of the device, aligned to 256 bytes; contents undefined. The host must not read it.
  /// Throws Error, which names the bytes that are wanted and free.
  std::byte* allocate(size_t bytes);
  /// A device that is lost has no memory to free: other calls report that.
  void free(std::byte* memory) noexcept;

  void copy_to_device(std::byte* to, std::span<const std::byte> from);
  /// Waits for everything before it.
  void copy_to_host(std::span<std::byte> to, const std::byte* from);
  void copy(std::byte* to, const std::byte* from, size_t bytes);
  void fill(std::byte* to, uint8_t value, size_t bytes);

  /// Starts a kernel with its arguments.
  template <typename Arguments>
  void launch(const char* kernel, const LaunchShape& shape, Arguments arguments) {
    launch_raw(kernel, shape, &arguments);
  }

  /// Waits until everything is done.
  void synchronize();

 private:
  void make_current() const;
  Driver::Handle function(const char* kernel, size_t shared_bytes);
  void launch_raw(const char* kernel, const LaunchShape& shape, void* arguments);

  struct Function {
    Driver::Handle handle = nullptr;
    size_t shared_bytes = size_t{48} << 10;  // that it may ask for
  };

  const Driver& driver_;
  DeviceProperties properties_;
  Driver::Handle context_ = nullptr, stream_ = nullptr, module_ = nullptr;
  std::mutex mutex_;                                          // of functions_
  std::unordered_map<std::string_view, Function> functions_;  // by names of kernels, literals
};

}  // namespace heed::gpu
