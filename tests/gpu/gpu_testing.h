#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/gpu/gpu.h"
#include "tests/base/testing.h"

namespace heed::gpu {

extern const std::vector<std::span<const std::byte>> kernel_images;

/// A simulated GPU with settings of HEED_SIMULATED_GPU (gpu_simulator/simulated_driver.h).
inline Gpu simulated(const std::string& settings = "") {
  ::setenv("HEED_CUDA_DRIVER", HEED_SIMULATED_DRIVER, 1);
  ::setenv("HEED_SIMULATED_GPU", settings.c_str(), 1);
  return {0, kernel_images};
}

/// An array on the device.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(Gpu& device, const std::vector<T>& values)
      : device_(device), size_(values.size()), memory_(device.allocate(size_ * sizeof(T))) {
    device.copy_to_device(memory_.get(), std::as_bytes(std::span(values)));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return reinterpret_cast<T*>(memory_.get()); }
  std::byte* bytes() { return memory_.get(); }
  std::vector<T> values() const {
    std::vector<T> result(size_);
    device_.copy_to_host(std::as_writable_bytes(std::span(result)), memory_.get());
    return result;
  }

 private:
  Gpu& device_;
  size_t size_;
  std::shared_ptr<std::byte> memory_;
};

inline std::vector<float> random_values(size_t count, uint64_t seed) {
  const CounterRandom random(seed);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random.normal(i));
  return values;
}

}  // namespace heed::gpu
