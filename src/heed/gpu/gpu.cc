#include "heed/gpu/gpu.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "heed/base/display.h"
#include "heed/base/rounding.h"
#include "heed/base/sanitizer.h"
#include "heed/gpu/graph.h"
#include "heed/tensor/allocator.h"
#include "heed/tensor/device_error.h"

namespace heed::gpu {
namespace {

// CUdevice_attribute and CUfunction_attribute.
constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76, kSharedBytes = 97;
constexpr int kMaxDynamicShared = 8;
// CUresult.
constexpr Driver::Result kNotFound = 500;
constexpr Driver::Result kInvalidImage = 200, kNoBinary = 209, kUnsupportedPtx = 222;
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

constexpr size_t kStagingBytes = size_t{8} << 20;
/// Larger copies are not staged.
constexpr size_t kMaxStaged = kStagingBytes / 8;
constexpr size_t kStagingAlignment = 64;

int attribute(Driver::Device device, int number) {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, number, device), "asking a GPU for its properties");
  return value;
}

Driver::Device handle_of(int ordinal) {
  Driver::Device device = 0;
  check(driver().cuDeviceGet(&device, ordinal), fmt::format("opening GPU {}", ordinal));
  return device;
}

GpuProperties properties_of(int ordinal) {
  const Driver::Device device = handle_of(ordinal);
  std::array<char, 256> name{};
  size_t bytes = 0;
  check(driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
        "asking a GPU for its name");
  check(driver().cuDeviceTotalMem(&bytes, device), "asking a GPU for its memory");
  return {.name = name.data(),
          .ordinal = ordinal,
          .major = attribute(device, kMajor),
          .minor = attribute(device, kMinor),
          .memory_bytes = bytes,
          .multiprocessors = attribute(device, kMultiprocessors),
          .shared_bytes = attribute(device, kSharedBytes)};
}

/// Whether every call fails from now on, in this process: faults of memory and of the bus (ECC,
/// NVLINK; 999: the GPU has left the bus) and of kernels (illegal addresses, timeouts).
bool is_fatal(Driver::Result result) {
  return result == 214 || result == 220 || result == 700 || result == 702 || result == 710 ||
         (result >= 714 && result <= 719) || result == 721 || result == 999;
}

int count_gpus() {
  driver();
  static const OwnProcess process;
  require(!process.is_forked(),
          "the driver of the GPU was started before this process was forked: a forked child cannot "
          "use it");
  check(driver().cuInit(0), "starting the driver of the GPU");
  int count = 0;
  check(driver().cuDeviceGetCount(&count), "counting GPUs");
  return count;
}

Driver::Pointer address(const std::byte* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace

std::vector<GpuProperties> gpus() {
  std::vector<GpuProperties> all;
  const int count = count_gpus();
  for (int i = 0; i < count; ++i) all.push_back(properties_of(i));
  return all;
}

Gpu::Gpu(int ordinal, std::span<const std::span<const std::byte>> kernels) : driver_(driver()) {
  const int count = count_gpus();
  require(ordinal >= 0 && ordinal < count, "there is no GPU {}: this machine has {}", ordinal,
          count);
  properties_ = properties_of(ordinal);
  name_ = fmt::format("GPU {} ({})", ordinal, properties_.name);
  require(properties_.major >= kOldestMajor,
          "{} has compute capability {}.{}, heed needs {}.0 (Ampere) or later", name_,
          properties_.major, properties_.minor, kOldestMajor);
  device_ = handle_of(ordinal);
  check(driver_.cuDevicePrimaryCtxRetain(&context_, device_), "opening it");
  try {
    make_current();
    check(driver_.cuStreamCreate(&stream_, kNonBlocking), "opening it");
    for (const std::span<const std::byte> image : kernels) load(image);
    void* staging = nullptr;
    check(driver_.cuMemHostAlloc(&staging, kStagingBytes, 0), "allocating pinned memory");
    staging_ = static_cast<std::byte*>(staging);
  } catch (...) {
    close();
    throw;
  }
}

Gpu::~Gpu() {
  if (!process_.is_forked()) close();
}

/// A driver that refuses has nothing that could be given back.
void Gpu::close() {
  driver_.cuCtxSetCurrent(context_);
  if (stream_) driver_.cuStreamSynchronize(stream_);
  refused_.clear();
  const MutexLock memory_lock(memory_mutex_), staging_lock(staging_mutex_);
  for (const Arena::Extent& area : areas_) {
    unpoison_memory(area.begin, area.size);
    driver_.cuMemFree(address(area.begin));
  }
  for (const Arena::Extent& area : host_areas_) {
    unpoison_memory(area.begin, area.size);
    driver_.cuMemFreeHost(area.begin);
  }
  if (staging_) driver_.cuMemFreeHost(staging_);
  for (const Driver::Handle module : modules_) driver_.cuModuleUnload(module);
  if (stream_) driver_.cuStreamDestroy(stream_);
  driver_.cuCtxSetCurrent(nullptr);
  driver_.cuDevicePrimaryCtxRelease(device_);
}

void Gpu::load(std::span<const std::byte> image) {
  static constexpr std::array<char, 64> kNothing{};  // what the simulated driver is content with
  Driver::Handle module = nullptr;
  const Driver::Result loaded = driver_.cuModuleLoadData(
      &module, image.empty() ? static_cast<const void*>(kNothing.data()) : image.data());
  require(loaded == 0 || !image.empty(), "{}", kNoKernels);
  if (loaded == kInvalidImage || loaded == kNoBinary || loaded == kUnsupportedPtx) {
    int version = 0;
    driver_.cuDriverGetVersion(&version);
    fail(
        "none of heed's kernels run on {} of compute capability {}.{} with its driver, which is "
        "for CUDA {}.{}: {}",
        name_, properties_.major, properties_.minor, version / 1000, version % 1000 / 10,
        text_of(loaded));
  }
  check(loaded, "loading kernels");
  modules_.push_back(module);
}

void Gpu::check(Driver::Result result, std::string_view doing) const {
  if (result == 0) return;
  if (is_fatal(result)) lose(doing, result);
  if (result == Driver::kOutOfMemory)
    throw DeviceMemoryError(fmt::format("{}: {}: {}", name_, doing, text_of(result)));
  fail("{}: {}: {}", name_, doing, text_of(result));
}

void Gpu::lose(std::string_view doing, Driver::Result result) const {
  const MutexLock lock(loss_mutex_);
  if (!is_lost_)
    loss_ = fmt::format("{} was lost while {}: {}; only a new process can use it again", name_,
                        doing, text_of(result));
  is_lost_ = true;
  throw DeviceLostError(loss_);
}

std::string Gpu::loss() const {
  const MutexLock lock(loss_mutex_);
  return loss_;
}

void Gpu::make_current() const {
  require(!process_.is_forked(),
          "{} was opened before this process was forked: a forked child cannot use it, nor a model "
          "that was loaded onto it",
          name_);
  if (is_lost_) throw DeviceLostError(loss());
  check(driver_.cuCtxSetCurrent(context_), "using it");
}

/// Starts what this thread has collected for a graph, and what follows at once.
void Gpu::stop_recording() {
  if (GraphRunner* const graphs = GraphRunner::recording_on(*this)) graphs->start_without_graph();
}

void Gpu::copy_to_device(std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  if (GraphRunner* const graphs = GraphRunner::recording_on(*this)) {
    if (graphs->add_upload(address(to), from)) return;
    graphs->start_without_graph();
  }
  make_current();
  const auto copy_from = [&](const std::byte* memory) {
    check(driver_.cuMemcpyHtoDAsync(address(to), memory, from.size(), stream_), "copying to it");
  };
  if (from.size() > kMaxStaged) {
    copy_from(from.data());
    // The driver has read ordinary memory, but not pinned memory.
    if (is_on_host_area(from.data())) synchronize();
    return;
  }
  const MutexLock lock(staging_mutex_);
  if (staged_ + from.size() > kStagingBytes) {
    synchronize();
    staged_ = 0;
  }
  std::byte* const staging = staging_ + staged_;
  std::memcpy(staging, from.data(), from.size());
  staged_ += round_up(from.size(), kStagingAlignment);
  copy_from(staging);
}

void Gpu::copy_to_host(std::span<std::byte> to, const std::byte* from) {
  stop_recording();
  make_current();
  check(driver_.cuMemcpyDtoHAsync(to.data(), address(from), to.size(), stream_), "copying from it");
  synchronize();
  require(!refused_.take(), "{}: a value that is not finite, or too large, could not be stored",
          name_);
}

uint32_t* Gpu::refused_flag() {
  return refused_.get([&](size_t bytes) { return allocate_pinned(bytes); });
}

void Gpu::copy(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes == 0) return;
  if (GraphRunner* const graphs = GraphRunner::recording_on(*this))
    return graphs->add_copy(address(to), address(from), bytes);
  make_current();
  check(driver_.cuMemcpyDtoDAsync(address(to), address(from), bytes, stream_), "copying");
}

void Gpu::fill(std::byte* to, uint8_t value, size_t bytes) {
  stop_recording();
  make_current();
  check(driver_.cuMemsetD8Async(address(to), value, bytes, stream_), "filling memory");
}

Driver::Handle Gpu::function(const char* kernel, size_t shared_bytes) {
  const MutexLock lock(functions_mutex_);
  Function& found = functions_[kernel];
  for (size_t i = 0; !found.handle && i < modules_.size(); ++i) {
    const Driver::Result result = driver_.cuModuleGetFunction(&found.handle, modules_[i], kernel);
    if (result == 0 || (result == kNotFound && i + 1 < modules_.size())) continue;
    check(result, fmt::format("looking for kernel {}", kernel));
  }
  if (found.shared_bytes < shared_bytes) {
    check(
        driver_.cuFuncSetAttribute(found.handle, kMaxDynamicShared, static_cast<int>(shared_bytes)),
        fmt::format("giving kernel {} {} bytes of shared memory", kernel, shared_bytes));
    found.shared_bytes = shared_bytes;
  }
  return found.handle;
}

void Gpu::launch_raw(const char* kernel, const LaunchShape& shape, std::span<std::byte> arguments) {
  const Driver::Handle found = function(kernel, shape.shared_bytes);
  if (GraphRunner* const graphs = GraphRunner::recording_on(*this))
    return graphs->add_launch(found, shape, arguments);
  make_current();
  const Driver::Result result = start(found, shape, arguments.data());
  if (result != 0) check(result, fmt::format("starting kernel {}", kernel));
}

Driver::Result Gpu::start(Driver::Handle function, const LaunchShape& shape, void* arguments) {
  return driver_.cuLaunchKernel(function, shape.x, shape.y, shape.z, shape.threads, 1, 1,
                                static_cast<unsigned>(shape.shared_bytes), stream_, &arguments,
                                nullptr);
}

std::unique_ptr<heed::GraphRunner> Gpu::graph_runner() {
  return std::make_unique<GraphRunner>(*this);
}

void Gpu::synchronize() {
  stop_recording();
  make_current();
  check(driver_.cuStreamSynchronize(stream_), "waiting for it");
}

}  // namespace heed::gpu
