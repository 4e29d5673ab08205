// Drivers that are missing, too old or broken, and forked processes: one clear line each.
#include <gtest/gtest.h>

#include <memory>

#include "heed/gpu/graph.h"
#include "tests/base/forked.h"
#include "tests/gpu/gpu_testing.h"
#include "tests/gpu/test_kernels.h"

namespace heed::gpu {
namespace {

/// What opening a simulated GPU and working on it throws.
std::string error_with(const std::string& settings) {
  return error_of([&] {
    Gpu device = simulated(settings);
    DeviceArray x(device, std::vector<float>(64)), y(device, std::vector<float>(64));
    device.launch("softmax_rows", {.threads = 32, .shared_bytes = sizeof(float)},
                  SoftmaxArguments{x.data(), y.data(), 64});
    y.values();
  });
}

TEST(BrokenDriver, DoesNotStart) {
  EXPECT_EQ(error_with("fail=cuInit:803"),
            "starting the driver of the GPU: system has unsupported display driver / cuda driver "
            "combination (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)");
  EXPECT_EQ(error_with("fail=cuInit:100"),
            "starting the driver of the GPU: no CUDA-capable device is detected "
            "(CUDA_ERROR_NO_DEVICE)");
}

TEST(BrokenDriver, CannotRunTheKernels) {
  EXPECT_EQ(error_with("fail=cuModuleLoadData:209"),
            kernel_images.front().empty()
                ? std::string(kNoKernels)
                : "none of heed's kernels run on GPU 0 (simulated GPU) of compute capability 9.0 "
                  "with its driver, which is for CUDA 13.0: no kernel image is available for "
                  "execution on the device (CUDA_ERROR_NO_BINARY_FOR_GPU)");
}

TEST(BrokenDriver, HasNoMemory) {
  EXPECT_EQ(error_with("fail=cuMemHostAlloc:2"),
            "GPU 0 (simulated GPU): allocating pinned memory: out of memory "
            "(CUDA_ERROR_OUT_OF_MEMORY)");
  const std::string error = error_with("fail=cuMemAlloc:2:0");
  EXPECT_TRUE(error.starts_with("out of memory on GPU 0 (simulated GPU): 4,096 bytes could not"))
      << error;
}

TEST(BrokenDriver, LosesAGpu) {
  EXPECT_EQ(error_with("fail=cuStreamSynchronize:700"),
            "GPU 0 (simulated GPU) was lost while waiting for it: an illegal memory access was "
            "encountered (CUDA_ERROR_ILLEGAL_ADDRESS); only a new process can use it again");
  EXPECT_EQ(error_with("fail=cuMemcpyHtoDAsync:719"),
            "GPU 0 (simulated GPU) was lost while copying to it: unspecified launch failure "
            "(CUDA_ERROR_LAUNCH_FAILED); only a new process can use it again");
}

/// What `action` throws in a forked child.
std::string error_of_child(const std::function<void()>& action) {
  return in_forked_child([&] { return error_of(action); });
}

TEST(ForkedProcess, CannotUseWhatItsParentHasOpened) {
  std::unique_ptr<Gpu> device(new Gpu(simulated()));
  auto array = std::make_unique<DeviceArray<float>>(*device, std::vector<float>(64));
  auto graph = device->graph_runner();
  EXPECT_EQ(error_of_child([&] { array->values(); }),
            "GPU 0 (simulated GPU) was opened before this process was forked: a forked child "
            "cannot use it, nor a model that was loaded onto it");
  EXPECT_EQ(error_of_child([] { gpus(); }),
            "the driver of the GPU was started before this process was forked: a forked child "
            "cannot use it");
  // What it inherited can be destroyed.
  EXPECT_EQ(error_of_child([&] {
              graph.reset();
              array.reset();
              device.reset();
            }),
            "no error");
  EXPECT_EQ(array->values(), std::vector<float>(64));
}

}  // namespace
}  // namespace heed::gpu
