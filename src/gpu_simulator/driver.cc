// A driver of a GPU that does not exist: the functions of libcuda.so.1 that heed uses
// (gpu/driver.h), on the host. Kernels are those that are linked with it. Work is done at once,
// errors of kernels are reported at the next synchronisation, as a driver does.
//
// HEED_SIMULATED_GPU="memory=64,seed=3,cores=ampere,capability=75,devices=2,fail=cuMemAlloc:700:2"
//   memory      MiB of each device (256)
//   seed        of the order in which threads run; 0: in turns
//   cores       whose tensor cores: hopper (default) or ampere
//   capability  of each device (90)
//   devices     how many there are (1)
//   fail        NAME:RESULT:N the N-th call of a function returns the error RESULT
// cuInit() reads it again.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "gpu_simulator/registry.h"
#include "heed/base/parallel.h"
#include "heed/export.h"

namespace heed::gpu_simulator {
namespace {

// CUresult.
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kNotFound = 500,
              kLaunchFailed = 719;

class SimulatedDriver {
 public:
  /// Reads HEED_SIMULATED_GPU, and forgets the fault of a kernel.
  void start() {
    fault_.clear();
    settings_.clear();
    calls_ = 0;
    const char* text = std::getenv("HEED_SIMULATED_GPU");
    std::istringstream settings(text == nullptr ? "" : text);
    for (std::string setting; std::getline(settings, setting, ',');) {
      const size_t equals = setting.find('=');
      if (equals != setting.npos) settings_[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
  }

  int64_t setting(const std::string& name, int64_t otherwise) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 10);
  }
  size_t memory() const { return static_cast<size_t>(setting("memory", 256)) << 20; }

  /// What a call returns without being carried out: an error that HEED_SIMULATED_GPU asks for.
  int planned_error(std::string_view function) {
    const auto found = settings_.find("fail");
    if (found == settings_.end()) return 0;
    std::istringstream parts(found->second);
    std::string name, result, number;
    std::getline(parts, name, ':');
    std::getline(parts, result, ':');
    std::getline(parts, number, ':');
    if (name != function || ++calls_ != std::max(1, std::atoi(number.c_str()))) return 0;
    return std::atoi(result.c_str());
  }

  int allocate(uint64_t& pointer, size_t bytes) {
    if (bytes == 0) return kInvalidValue;
    if (used_ + bytes > memory()) return kOutOfMemory;
    void* const block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (block == nullptr) return kOutOfMemory;
    std::memset(block, 0xff, bytes);  // NaN: what nobody wrote shows
    pointer = reinterpret_cast<uint64_t>(block);
    sizes_[pointer] = bytes;
    used_ += bytes;
    return 0;
  }

  int free(uint64_t pointer) {
    const auto found = sizes_.find(pointer);
    if (found == sizes_.end()) return kInvalidValue;
    used_ -= found->second;
    sizes_.erase(found);
    std::free(reinterpret_cast<void*>(pointer));
    return 0;
  }

  size_t used() const { return used_; }

  void launch(const Kernel& kernel, Launch launch) {
    launch.kernel = &kernel;
    launch.seed = static_cast<uint32_t>(setting("seed", 0));
    const auto cores = settings_.find("cores");
    launch.cores = cores != settings_.end() && cores->second == "ampere" ? TensorCores::ampere
                                                                         : TensorCores::hopper;
    const Dimensions grid = launch.grid;
    parallel_for(int64_t{grid.x} * grid.y * grid.z, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto number = static_cast<unsigned>(i);
        Block block(launch, {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y});
        const std::string fault = block.run();
        if (fault.empty()) continue;
        const std::lock_guard lock(mutex_);
        if (fault_.empty()) fault_ = fault;
      }
    });
  }

  /// The fault of a kernel. Every call fails after it, as on a GPU.
  const std::string& fault() const { return fault_; }

  std::mutex& calls() { return calls_mutex_; }

 private:
  std::map<std::string, std::string> settings_;
  std::map<uint64_t, size_t> sizes_;
  size_t used_ = 0;
  int calls_ = 0;
  std::mutex mutex_, calls_mutex_;
  std::string fault_;
};

SimulatedDriver& simulated() {
  static SimulatedDriver driver;
  return driver;
}

/// Carries out a call, one at a time, unless it is to fail.
template <typename Call>
int carry_out(std::string_view function, const Call& call) {
  const std::lock_guard lock(simulated().calls());
  if (const int error = simulated().planned_error(function)) return error;
  if (!simulated().fault().empty()) return kLaunchFailed;
  return call();
}

}  // namespace
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
  static const std::map<int, const char*> names{{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
                                                {kNotFound, "CUDA_ERROR_NOT_FOUND"},
                                                {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(result);
  *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
  return 0;
}

HEED_EXPORT int cuGetErrorString(int result, const char** text) {
  const std::string& fault = simulated().fault();
  *text = result == kOutOfMemory                      ? "out of memory"
          : result == kLaunchFailed && !fault.empty() ? fault.c_str()
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

HEED_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  return carry_out("cuDeviceGetAttribute", [&] {
    const auto capability = static_cast<int>(simulated().setting("capability", 90));
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
    return 0;
  });
}

HEED_EXPORT int cuCtxSetCurrent(void*) {
  return carry_out("cuCtxSetCurrent", [] { return 0; });
}

HEED_EXPORT int cuStreamCreate(void** stream, unsigned) {
  return carry_out("cuStreamCreate", [&] {
    *stream = &simulated();
    return 0;
  });
}

HEED_EXPORT int cuStreamSynchronize(void*) {
  return carry_out("cuStreamSynchronize", [] { return 0; });
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
  return carry_out("cuMemHostAlloc", [&] {
    *memory = std::malloc(bytes);
    return *memory == nullptr ? kOutOfMemory : 0;
  });
}

HEED_EXPORT int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}

HEED_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  return carry_out("cuMemcpyHtoDAsync", [&] {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
  });
}

HEED_EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  return carry_out("cuMemcpyDtoHAsync", [&] {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return 0;
  });
}

HEED_EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  return carry_out("cuMemcpyDtoDAsync", [&] {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return 0;
  });
}

HEED_EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
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
                               unsigned shared_bytes, void*, void** arguments, void**) {
  return carry_out("cuLaunchKernel", [&] {
    if (x == 0 || y == 0 || z == 0 || y > 65535 || z > 65535 || threads == 0 || threads > 1024 ||
        threads % kWarpLanes != 0 || threads_y != 1 || threads_z != 1)
      return kInvalidValue;
    simulated().launch(*function, {.kernel = function,
                                   .arguments = arguments[0],
                                   .grid = {x, y, z},
                                   .threads = threads,
                                   .shared_bytes = shared_bytes,
                                   .cores = TensorCores::hopper,
                                   .seed = 0});
    return 0;
  });
}

}  // extern "C"
