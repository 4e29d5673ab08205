#include "heed/gpu/driver.h"

#include <cstdlib>

#include "heed/base/shared_library.h"

namespace heed::gpu {
namespace {

Driver open_driver() {
  const char* named = std::getenv("HEED_CUDA_DRIVER");
  const SharedLibrary library({named == nullptr ? "libcuda.so.1" : named}, "computing on a GPU",
                              "libcuda1");
  Driver driver;
#define HEED_FIND(function) library.find(driver.function, #function)
  HEED_FIND(cuInit);
  HEED_FIND(cuDriverGetVersion);
  HEED_FIND(cuGetErrorName);
  HEED_FIND(cuGetErrorString);
  HEED_FIND(cuDeviceGetCount);
  HEED_FIND(cuDeviceGet);
  HEED_FIND(cuDeviceGetName);
  HEED_FIND(cuDeviceGetAttribute);
  HEED_FIND(cuDevicePrimaryCtxRetain);
  HEED_FIND(cuCtxSetCurrent);
  HEED_FIND(cuStreamCreate);
  HEED_FIND(cuStreamSynchronize);
  HEED_FIND(cuMemHostAlloc);
  HEED_FIND(cuMemFreeHost);
  HEED_FIND(cuMemsetD8Async);
  HEED_FIND(cuModuleLoadData);
  HEED_FIND(cuModuleGetFunction);
  HEED_FIND(cuFuncSetAttribute);
  HEED_FIND(cuLaunchKernel);
#undef HEED_FIND
  // Functions whose sizes grew to 64 bits have a second version.
  library.find(driver.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
  library.find(driver.cuMemGetInfo, "cuMemGetInfo_v2");
  library.find(driver.cuMemAlloc, "cuMemAlloc_v2");
  library.find(driver.cuMemFree, "cuMemFree_v2");
  library.find(driver.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  library.find(driver.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  library.find(driver.cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

void check(Driver::Result result, std::string_view doing) {
  if (result == 0) return;
  const char* name = nullptr;
  const char* text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  fail("{}: {} ({})", doing, text == nullptr ? "unknown error" : text,
       name == nullptr ? std::to_string(result) : name);
}

}  // namespace heed::gpu
