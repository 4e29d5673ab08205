#include "heed/gpu/driver.h"

#include <cstdlib>

#include "heed/base/shared_library.h"

namespace heed::gpu {
namespace {

void find_functions(const SharedLibrary& library, Driver& driver) {
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
  HEED_FIND(cuGraphCreate);
  HEED_FIND(cuGraphAddKernelNode);
  HEED_FIND(cuGraphAddMemcpyNode);
  HEED_FIND(cuGraphInstantiateWithFlags);
  HEED_FIND(cuGraphExecKernelNodeSetParams);
  HEED_FIND(cuGraphExecMemcpyNodeSetParams);
  HEED_FIND(cuGraphLaunch);
  HEED_FIND(cuGraphDestroy);
  HEED_FIND(cuGraphExecDestroy);
  HEED_FIND(cuEventCreate);
  HEED_FIND(cuEventRecord);
  HEED_FIND(cuEventSynchronize);
  HEED_FIND(cuEventElapsedTime);
  HEED_FIND(cuMemHostAlloc);
  HEED_FIND(cuMemFreeHost);
  HEED_FIND(cuMemsetD8Async);
  HEED_FIND(cuModuleLoadData);
  HEED_FIND(cuModuleUnload);
  HEED_FIND(cuModuleGetFunction);
  HEED_FIND(cuFuncSetAttribute);
  HEED_FIND(cuLaunchKernel);
#undef HEED_FIND
  // Those that changed have a second version: sizes grew to 64 bits, destruction became lazy.
  library.find(driver.cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  library.find(driver.cuStreamDestroy, "cuStreamDestroy_v2");
  library.find(driver.cuEventDestroy, "cuEventDestroy_v2");
  library.find(driver.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
  library.find(driver.cuMemGetInfo, "cuMemGetInfo_v2");
  library.find(driver.cuMemAlloc, "cuMemAlloc_v2");
  library.find(driver.cuMemFree, "cuMemFree_v2");
  library.find(driver.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  library.find(driver.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  library.find(driver.cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
}

Driver open_driver() {
  const char* named = std::getenv("HEED_CUDA_DRIVER");
  const SharedLibrary library({named == nullptr ? "libcuda.so.1" : named}, "computing on a GPU",
                              "libcuda1");
  Driver driver;
  try {
    find_functions(library, driver);
  } catch (const Error& error) {
    fail("{}: it is not NVIDIA's driver, or too old a one", error.what());
  }
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

std::string text_of(Driver::Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &text);
  return fmt::format("{} ({})", text == nullptr ? "unknown error" : text,
                     name == nullptr ? std::to_string(result) : name);
}

void check(Driver::Result result, std::string_view doing) {
  if (result != 0) fail("{}: {}", doing, text_of(result));
}

}  // namespace heed::gpu
