#include "heed/gpu/device.h"

#include <array>

namespace heed::gpu {
namespace {

// CUdevice_attribute and CUfunction_attribute.
constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76, kSharedBytes = 97;
constexpr int kMaxDynamicShared = 8;
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

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

DeviceProperties properties_of(int ordinal) {
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

int count_devices() {
  check(driver().cuInit(0), "starting the driver of the GPU");
  int count = 0;
  check(driver().cuDeviceGetCount(&count), "counting GPUs");
  return count;
}

Driver::Pointer address(const std::byte* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace

std::vector<DeviceProperties> devices() {
  std::vector<DeviceProperties> all;
  const int count = count_devices();
  for (int i = 0; i < count; ++i) all.push_back(properties_of(i));
  return all;
}

Device::Device(int ordinal, std::span<const std::byte> kernels) : driver_(driver()) {
  const int count = count_devices();
  require(ordinal >= 0 && ordinal < count, "there is no GPU {}: this machine has {}", ordinal,
          count);
  properties_ = properties_of(ordinal);
  require(properties_.major >= 8,
          "GPU {}, {}, has compute capability {}.{}, heed needs 8.0 (Ampere) or later", ordinal,
          properties_.name, properties_.major, properties_.minor);
  check(driver_.cuDevicePrimaryCtxRetain(&context_, handle_of(ordinal)), "opening a GPU");
  make_current();
  check(driver_.cuStreamCreate(&stream_, kNonBlocking), "opening a GPU");
  const char nothing = 0;  // what the simulated driver is content with
  const Driver::Result loaded = driver_.cuModuleLoadData(
      &module_, kernels.empty() ? static_cast<const void*>(&nothing) : kernels.data());
  require(loaded == 0 || !kernels.empty(),
          "this heed was built without kernels for GPUs: nvcc was missing");
  check(loaded, "loading the kernels of a GPU");
}

void Device::make_current() const { check(driver_.cuCtxSetCurrent(context_), "using a GPU"); }

size_t Device::free_bytes() const {
  make_current();
  size_t free = 0, total = 0;
  check(driver_.cuMemGetInfo(&free, &total), "asking a GPU for its free memory");
  return free;
}

std::byte* Device::allocate(size_t bytes) {
  make_current();
  Driver::Pointer pointer = 0;
  const Driver::Result result = driver_.cuMemAlloc(&pointer, bytes);
  if (result != 0)
    check(result, fmt::format("allocating {} bytes on GPU {}, which has {} free", bytes,
                              properties_.ordinal, free_bytes()));
  return reinterpret_cast<std::byte*>(pointer);
}

void Device::free(std::byte* memory) noexcept {
  driver_.cuCtxSetCurrent(context_);
  driver_.cuMemFree(address(memory));
}

void Device::copy_to_device(std::byte* to, std::span<const std::byte> from) {
  make_current();
  check(driver_.cuMemcpyHtoDAsync(address(to), from.data(), from.size(), stream_),
        "copying to a GPU");
}

void Device::copy_to_host(std::span<std::byte> to, const std::byte* from) {
  make_current();
  check(driver_.cuMemcpyDtoHAsync(to.data(), address(from), to.size(), stream_),
        "copying from a GPU");
  synchronize();
}

void Device::copy(std::byte* to, const std::byte* from, size_t bytes) {
  make_current();
  check(driver_.cuMemcpyDtoDAsync(address(to), address(from), bytes, stream_), "copying on a GPU");
}

void Device::fill(std::byte* to, uint8_t value, size_t bytes) {
  make_current();
  check(driver_.cuMemsetD8Async(address(to), value, bytes, stream_), "filling memory of a GPU");
}

Driver::Handle Device::function(const char* kernel, size_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  Function& found = functions_[kernel];
  if (found.handle == nullptr)
    check(driver_.cuModuleGetFunction(&found.handle, module_, kernel),
          fmt::format("looking for kernel {}", kernel));
  if (found.shared_bytes < shared_bytes) {
    check(
        driver_.cuFuncSetAttribute(found.handle, kMaxDynamicShared, static_cast<int>(shared_bytes)),
        fmt::format("giving kernel {} {} bytes of shared memory", kernel, shared_bytes));
    found.shared_bytes = shared_bytes;
  }
  return found.handle;
}

void Device::launch_raw(const char* kernel, const LaunchShape& shape, void* arguments) {
  make_current();
  check(driver_.cuLaunchKernel(function(kernel, shape.shared_bytes), shape.x, shape.y, shape.z,
                               shape.threads, 1, 1, static_cast<unsigned>(shape.shared_bytes),
                               stream_, &arguments, nullptr),
        fmt::format("starting kernel {}", kernel));
}

void Device::synchronize() {
  make_current();
  check(driver_.cuStreamSynchronize(stream_), "waiting for a GPU");
}

}  // namespace heed::gpu
