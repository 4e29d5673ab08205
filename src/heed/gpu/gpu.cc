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
constexpr Driver::Result kOutOfMemory = 2, kNotFound = 500;
constexpr Driver::Result kInvalidImage = 200, kNoBinary = 209, kUnsupportedPtx = 222;
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

/// Memory is asked of the driver in areas of this size, or of a 32nd of a small GPU.
constexpr size_t kArea = size_t{256} << 20;
/// Areas of pinned memory, which takes long to allocate.
constexpr size_t kHostArea = size_t{16} << 20;
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
  if (result == kOutOfMemory)
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

size_t Gpu::driver_free_bytes() const {
  make_current();
  size_t free = 0, total = 0;
  check(driver_.cuMemGetInfo(&free, &total), "asking for its free memory");
  return free;
}

size_t Gpu::allocated_bytes() const {
  const MutexLock lock(memory_mutex_);
  return allocated_;
}

size_t Gpu::peak_allocated_bytes() const {
  const MutexLock lock(memory_mutex_);
  return peak_;
}

void Gpu::reset_peak_allocated_bytes() {
  const MutexLock lock(memory_mutex_);
  peak_ = allocated_;
}

size_t Gpu::free_bytes() const {
  size_t bytes = driver_free_bytes();
  const MutexLock lock(memory_mutex_);
  for (const Arena::Extent& extent : arena_.free_extents()) bytes += extent.size;
  return bytes;
}

void Gpu::release_free_memory() {
  synchronize();
  const MutexLock lock(memory_mutex_);
  std::erase_if(areas_, [&](const Arena::Extent& area) HEED_REQUIRES(memory_mutex_) {
    if (!arena_.remove(area.begin, area.size)) return false;
    driver_.cuMemFree(address(area.begin));
    return true;
  });
}

std::shared_ptr<std::byte> Gpu::allocate(size_t bytes) {
  GraphRunner* const graphs = GraphRunner::recording_on(*this);
  return graphs ? graphs->allocate(bytes) : allocate_from_arena(bytes);
}

std::shared_ptr<std::byte> Gpu::allocate_from_arena(size_t bytes) {
  const size_t size = round_up(std::max<size_t>(bytes, 1), Arena::kGranule);
  std::byte* const block = take(size);
  poison_memory(block + bytes, size - bytes);
  return {block, [this, size](std::byte* memory) { give_back(memory, size); }};
}

std::byte* Gpu::take(size_t size) {
  const MutexLock lock(memory_mutex_);
  std::byte* block = arena_.take(size);
  if (!block && grow(size)) block = arena_.take(size);
  if (!block)
    throw DeviceMemoryError(fmt::format(
        "out of memory on {}: {} bytes could not be allocated, {} are in use and {} free: fewer "
        "tokens at a time or quantised weights (q8_0) need less",
        name_, grouped(static_cast<int64_t>(size)), grouped(static_cast<int64_t>(allocated_)),
        grouped(static_cast<int64_t>(driver_free_bytes()))));
  allocated_ += size;
  peak_ = std::max(peak_, allocated_);
  return block;
}

bool Gpu::grow(size_t size) {
  make_current();
  const size_t usual = std::min(kArea, round_up(properties_.memory_bytes / 32, Arena::kGranule));
  for (const size_t wanted : {std::max(size, usual), size}) {
    const size_t bytes = wanted + Arena::kGranule;
    Driver::Pointer pointer = 0;
    const Driver::Result result = driver_.cuMemAlloc(&pointer, bytes);
    if (result == kOutOfMemory) continue;
    check(result, fmt::format("allocating {} bytes", bytes));
    // The last granule stays unused: a block must not lie in two areas, which the driver's copies
    // refuse.
    areas_.push_back({reinterpret_cast<std::byte*>(pointer), bytes - Arena::kGranule});
    arena_.give_back(areas_.back().begin, areas_.back().size);
    return true;
  }
  return false;
}

void Gpu::give_back(std::byte* block, size_t size) noexcept {
  const MutexLock lock(memory_mutex_);
  allocated_ -= size;
  arena_.give_back(block, size);
}

std::shared_ptr<std::byte> Gpu::allocate_on_host(size_t bytes) {
  const size_t size = round_up(std::max<size_t>(bytes, 1), Arena::kGranule);
  const MutexLock lock(memory_mutex_);
  std::byte* block = host_arena_.take(size);
  if (!block && grow_on_host(size)) block = host_arena_.take(size);
  if (!block) return heed::allocate(bytes);
  return {block, [this, size](std::byte* memory) {
            const MutexLock own(memory_mutex_);
            host_arena_.give_back(memory, size);
          }};
}

bool Gpu::grow_on_host(size_t size) {
  make_current();
  const size_t wanted = std::max(size, kHostArea);
  void* area = nullptr;
  if (driver_.cuMemHostAlloc(&area, wanted, 0) != 0) return false;
  host_areas_.push_back({static_cast<std::byte*>(area), wanted});
  host_arena_.give_back(host_areas_.back().begin, wanted);
  return true;
}

bool Gpu::is_on_host_area(const std::byte* memory) const {
  const MutexLock lock(memory_mutex_);
  return std::ranges::any_of(host_areas_, [&](const Arena::Extent& area) {
    return area.begin <= memory && memory < area.end();
  });
}

std::shared_ptr<std::byte> Gpu::allocate_pinned(size_t bytes) {
  std::shared_ptr<std::byte> block = allocate_on_host(bytes);
  require(is_on_host_area(block.get()), "{}: {} bytes of pinned memory could not be allocated",
          name_, bytes);
  return block;
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
