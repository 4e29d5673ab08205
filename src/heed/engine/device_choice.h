#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "heed/model.h"
#include "heed/tensor/device.h"

namespace heed::gpu {
class Gpu;
}

namespace heed::engine {

/// LoadOptions::device, read.
struct DeviceChoice {
  bool cpu = false, automatic = false;  // neither: a GPU
  std::optional<int> ordinal = {};      // of the one GPU that will do
};

/// Throws InputError unless it is "cpu", "gpu", "gpu:N" or "auto".
DeviceChoice parse_device(std::string_view device);

/// Bytes of a loaded model.
struct LoadedBytes {
  int64_t weights = 0;
  int64_t cache = 0;            // of keys and values, for the model's context
  int64_t weights_as_q8_0 = 0;  // what the weights would take in q8_0
};

/// Where a model computes: the GPU that LoadOptions::device asks for and that has room, opened; or
/// null, the CPU. `needs` is asked only when there is a GPU. "auto" never throws because of a GPU;
/// otherwise throws Error when there is none, when heed cannot use it, and when the weights are
/// larger than what is free.
Device* device_for(std::string_view device, const std::function<LoadedBytes()>& needs);

/// The GPU on which a model computes; null: the CPU.
const gpu::Gpu* gpu_of(const Model& model);

}  // namespace heed::engine
