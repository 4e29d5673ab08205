// A driver of a GPU that does not exist: the functions of libcuda.so.1 that heed uses
// (gpu/driver.h), on the host. Kernels are those that are linked with it. streams.cc has streams,
// events and graphs.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "gpu_simulator/registry.h"
#include "gpu_simulator/simulated_driver.h"
#include "heed/export.h"

namespace heed::gpu_simulator {
namespace {

struct Result {
  const char* name;
  const char* text;
};

const std::map<int, Result>& results() {
  static const std::map<int, Result> all{
      {kInvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
      {kOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
      {34, {"CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"}},
      {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
      {kInvalidDevice, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
      {214, {"CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"}},
      {209,
       {"CUDA_ERROR_NO_BINARY_FOR_GPU",
        "no kernel image is available for execution on the device"}},
      {kNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
      {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
      {kLaunchFailed, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
      {803,
       {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "system has unsupported display driver / cuda driver combination"}}};
  return all;
}

/// Aligned as any argument of a kernel may be.
std::shared_ptr<void> copy_of(const void* arguments, size_t bytes) {
  void* const copy = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
  std::memcpy(copy, arguments, bytes);
  return {copy, [](void* memory) { std::free(memory); }};
}

}  // namespace

std::function<void()> prepared_launch(const Kernel* function, std::array<unsigned, 3> grid,
                                      std::array<unsigned, 3> block, unsigned shared_bytes,
                                      const void* arguments) {
  const auto [x, y, z] = grid;
  const auto [threads, threads_y, threads_z] = block;
  if (x == 0 || y == 0 || z == 0 || y > 65535 || z > 65535 || threads == 0 || threads > 1024 ||
      threads % kWarpLanes != 0 || threads_y != 1 || threads_z != 1)
    return {};
  const std::shared_ptr<void> kept = copy_of(arguments, function->argument_bytes);
  const Launch launch{.kernel = function,
                      .arguments = kept.get(),
                      .grid = {x, y, z},
                      .threads = threads,
                      .shared_bytes = shared_bytes,
                      .cores = TensorCores::hopper,
                      .seed = 0};
  return [launch, kept] { simulated().launch(launch); };
}

}  // namespace heed::gpu_simulator

using namespace heed::gpu_simulator;

extern "C" {

HEED_EXPORT int cuInit(unsigned) {
  simulated().start();
  return carry_out("cuInit", [] { return 0; });
}

HEED_EXPORT int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

HEED_EXPORT int cuGetErrorName(int result, const char** name) {
  const auto found = results().find(result);
  *name = found == results().end() ? "CUDA_ERROR_UNKNOWN" : found->second.name;
  return 0;
}

HEED_EXPORT int cuGetErrorString(int result, const char** text) {
  const std::string& fault = simulated().fault();
  const auto found = results().find(result);
  *text = result == kLaunchFailed && !fault.empty() ? fault.c_str()
          : found != results().end()                ? found->second.text
                                                    : "error of the simulated GPU";
  return 0;
}

HEED_EXPORT int cuDeviceGetCount(int* count) {
  return carry_out("cuDeviceGetCount", [&] {
    *count = static_cast<int>(simulated().setting("devices", 1));
    return 0;
  });
}

HEED_EXPORT int cuDeviceGet(int* device, int ordinal) {
  return carry_out("cuDeviceGet", [&] {
    *device = ordinal;
    return ordinal >= 0 && ordinal < simulated().setting("devices", 1) ? 0 : kInvalidDevice;
  });
}

HEED_EXPORT int cuDeviceGetName(char* name, int size, int) {
  return carry_out("cuDeviceGetName", [&] {
    std::strncpy(name, "simulated GPU", static_cast<size_t>(size));
    return 0;
  });
}

HEED_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
  return carry_out("cuDeviceTotalMem", [&] {
    *bytes = simulated().memory();
    return 0;
  });
}

HEED_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return carry_out("cuDeviceGetAttribute", [&] {
    const int capability = simulated().capability(device);
    switch (attribute) {
      case 16:  // multiprocessors
        *value = 2;
        return 0;
      case 75:
        *value = capability / 10;
        return 0;
      case 76:
        *value = capability % 10;
        return 0;
      case 97:  // shared memory of a block, at most
        *value = 227 << 10;
        return 0;
      default:
        return kInvalidValue;
    }
  });
}

HEED_EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  return carry_out("cuDevicePrimaryCtxRetain", [&] {
    *context = &simulated();
    simulated().retain();
    return 0;
  });
}

// Also after a fault.
HEED_EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  const std::lock_guard lock(simulated().calls());
  simulated().release();
  return 0;
}

HEED_EXPORT int cuCtxSetCurrent(void*) {
  return carry_out("cuCtxSetCurrent", [] { return 0; });
}

HEED_EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return carry_out("cuMemGetInfo", [&] {
    *total = simulated().memory();
    *free = *total - simulated().used();
    return 0;
  });
}

HEED_EXPORT int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
  return carry_out("cuMemAlloc", [&] { return simulated().allocate(*pointer, bytes); });
}

// Also after a fault.
HEED_EXPORT int cuMemFree_v2(uint64_t pointer) {
  const std::lock_guard lock(simulated().calls());
  return simulated().free(pointer);
}

HEED_EXPORT int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  return carry_out("cuMemHostAlloc", [&] { return simulated().allocate_pinned(*memory, bytes); });
}

HEED_EXPORT int cuMemFreeHost(void* memory) {
  const std::lock_guard lock(simulated().calls());
  simulated().free_pinned(memory);
  return 0;
}

HEED_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, Stream*) {
  return carry_out("cuMemcpyHtoDAsync", [&] {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
  });
}

HEED_EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, Stream*) {
  return carry_out("cuMemcpyDtoHAsync", [&] {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return 0;
  });
}

HEED_EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, Stream*) {
  return carry_out("cuMemcpyDtoDAsync", [&] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return 0;
  });
}

HEED_EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, Stream*) {
  return carry_out("cuMemsetD8Async", [&] {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return 0;
  });
}

HEED_EXPORT int cuModuleLoadData(void** module, const void*) {
  return carry_out("cuModuleLoadData", [&] {
    *module = &simulated();
    return 0;
  });
}

HEED_EXPORT int cuModuleUnload(void*) { return 0; }

HEED_EXPORT int cuModuleGetFunction(const Kernel** function, void*, const char* name) {
  return carry_out("cuModuleGetFunction", [&] {
    *function = find_kernel(name);
    return *function == nullptr ? kNotFound : 0;
  });
}

HEED_EXPORT int cuFuncSetAttribute(const Kernel*, int, int value) {
  return carry_out("cuFuncSetAttribute", [&] { return value <= 227 << 10 ? 0 : kInvalidValue; });
}

HEED_EXPORT int cuLaunchKernel(const Kernel* function, unsigned x, unsigned y, unsigned z,
                               unsigned threads, unsigned threads_y, unsigned threads_z,
                               unsigned shared_bytes, Stream*, void** arguments, void**) {
  return carry_out("cuLaunchKernel", [&] {
    const auto launch = prepared_launch(function, {x, y, z}, {threads, threads_y, threads_z},
                                        shared_bytes, arguments[0]);
    if (!launch) return kInvalidValue;
    launch();
    return 0;
  });
}

}  // extern "C"
