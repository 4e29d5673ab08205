#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/base/own_process.h"
#include "heed/gpu/driver.h"
#include "heed/gpu/refused_flags.h"
#include "heed/tensor/arena.h"
#include "heed/tensor/device.h"

namespace heed::gpu {

/// What the driver says about a GPU.
struct GpuProperties {
  std::string name;
  int ordinal;       // from 0, in the order of the driver
  int major, minor;  // compute capability
  size_t memory_bytes;
  int multiprocessors;
  int shared_bytes;  // of a block, at most
};

/// The oldest compute capability that heed has kernels for, 8.0: Ampere.
inline constexpr int kOldestMajor = 8;

/// Why a heed that was built without nvcc does not compute on a GPU.
inline constexpr std::string_view kNoKernels =
    "this heed was built without kernels for GPUs: nvcc was missing";

/// The GPUs of this machine. Throws Error, which says why, if there is no driver, if it does not
/// start, or if it was started before this process was forked.
std::vector<GpuProperties> gpus();

/// The grid of a launch, and the threads of a block: a multiple of 32.
struct LaunchShape {
  unsigned x = 1, y = 1, z = 1;
  unsigned threads = 256;
  size_t shared_bytes = 0;

  bool operator==(const LaunchShape&) const = default;
};

/// A GPU with a stream of work: memory, copies and kernels, which happen in the order of the calls.
/// Calls of several threads follow each other in any order. All throw Error, with the driver's
/// text, when the driver refuses: DeviceMemoryError for lack of memory, and DeviceLostError from
/// the fault on that no call survives. Errors of kernels are reported by a later call. In a forked
/// child all throw Error: what the parent has opened is not there. While a thread does the work of
/// a GraphRunner (graph.h), its calls are collected there.
class Gpu final : public Device {
 public:
  /// Opens the GPU `ordinal` and loads kernels for it: files of nvcc, each with some of them. An
  /// empty one is of a heed that was built without nvcc. Throws Error if there is no such GPU, if
  /// it is older than compute capability 8.0 or if there are no kernels for it.
  Gpu(int ordinal, std::span<const std::span<const std::byte>> kernels);
  /// Returns everything to the driver; its memory must be free.
  ~Gpu() override;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const GpuProperties& properties() const { return properties_; }
  const std::string& name() const override { return name_; }

  /// How the GPU was lost, the text of all errors since; empty: it was not.
  std::string loss() const;

  /// Bytes of live blocks, and their peak since the last reset.
  size_t allocated_bytes() const;
  size_t peak_allocated_bytes() const;
  void reset_peak_allocated_bytes();
  /// Bytes that this process can still allocate.
  size_t free_bytes() const;
  /// Returns free memory to the driver, for other processes.
  void release_free_memory();

  /// Blocks come from an arena: a freed one is used again at once, since everything that was to
  /// read it was started before.
  std::shared_ptr<std::byte> allocate(size_t bytes) override;
  /// Pinned memory, also from an arena.
  std::shared_ptr<std::byte> allocate_on_host(size_t bytes) override;

  /// The same. Throws Error where allocate_on_host() takes other memory.
  std::shared_ptr<std::byte> allocate_pinned(size_t bytes);

  /// A flag that kernels set at a value that they cannot store, where on the CPU they throw Error.
  /// It is of this thread, whose next copy_to_host() throws, which waits for the kernels anyway.
  uint32_t* refused_flag();

  void copy_to_device(std::byte* to, std::span<const std::byte> from) override;
  void copy_to_host(std::span<std::byte> to, const std::byte* from) override;
  void copy(std::byte* to, const std::byte* from, size_t bytes) override;
  void fill(std::byte* to, uint8_t value, size_t bytes) override;

  std::unique_ptr<heed::GraphRunner> graph_runner() override;

  /// Starts a kernel with its arguments.
  template <typename Arguments>
  void launch(const char* kernel, const LaunchShape& shape, Arguments arguments) {
    launch_raw(kernel, shape, std::as_writable_bytes(std::span(&arguments, 1)));
  }

  /// Waits until everything is done.
  void synchronize();

 private:
  friend class GraphRunner;
  friend class Timer;

  void check(Driver::Result result, std::string_view doing) const;
  [[noreturn]] void lose(std::string_view doing, Driver::Result result) const;
  void make_current() const;
  void stop_recording();
  void load(std::span<const std::byte> image);
  void close();
  size_t driver_free_bytes() const;
  std::shared_ptr<std::byte> allocate_from_arena(size_t bytes);
  bool grow(size_t size) HEED_REQUIRES(memory_mutex_);
  bool grow_on_host(size_t size) HEED_REQUIRES(memory_mutex_);
  bool is_on_host_area(const std::byte* memory) const;
  std::byte* take(size_t size);
  void give_back(std::byte* block, size_t size) noexcept;
  Driver::Handle function(const char* kernel, size_t shared_bytes);
  void launch_raw(const char* kernel, const LaunchShape& shape, std::span<std::byte> arguments);
  Driver::Result start(Driver::Handle function, const LaunchShape& shape, void* arguments);

  struct Function {
    Driver::Handle handle = nullptr;
    size_t shared_bytes = size_t{48} << 10;  // that it may ask for
  };

  const Driver& driver_;
  const OwnProcess process_;
  GpuProperties properties_;
  std::string name_;
  Driver::Device device_ = 0;
  Driver::Handle context_ = nullptr, stream_ = nullptr;
  std::vector<Driver::Handle> modules_;

  mutable Mutex loss_mutex_;
  mutable std::string loss_ HEED_GUARDED_BY(loss_mutex_);
  mutable std::atomic<bool> is_lost_ = false;

  Mutex functions_mutex_;
  std::unordered_map<std::string_view, Function> functions_
      HEED_GUARDED_BY(functions_mutex_);  // by names of kernels, literals

  mutable Mutex memory_mutex_;
  Arena arena_ HEED_GUARDED_BY(memory_mutex_);
  std::vector<Arena::Extent> areas_ HEED_GUARDED_BY(memory_mutex_);
  Arena host_arena_ HEED_GUARDED_BY(memory_mutex_);
  std::vector<Arena::Extent> host_areas_ HEED_GUARDED_BY(memory_mutex_);
  size_t allocated_ HEED_GUARDED_BY(memory_mutex_) = 0, peak_ HEED_GUARDED_BY(memory_mutex_) = 0;

  // Small copies to the device pass through memory that the driver need not copy first, so that the
  // host goes on at once. They fill it from the begin; when it is full, the stream is waited for.
  Mutex staging_mutex_;
  std::byte* staging_ HEED_GUARDED_BY(staging_mutex_) = nullptr;
  size_t staged_ HEED_GUARDED_BY(staging_mutex_) = 0;

  RefusedFlags refused_;
};

}  // namespace heed::gpu
