#include "heed/engine/device_choice.h"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "heed/base/display.h"
#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/engine/loaded_model.h"
#include "heed/gpu/gpu.h"
#include "heed/kernels/gpu/open.h"

namespace heed::engine {
namespace {

/// Beside weights and cache there are activations, logits and copies on their way.
constexpr int64_t kLeastWorkingBytes = int64_t{64} << 20;

int64_t bytes_for_all(const LoadedBytes& needs) {
  const int64_t kept = needs.weights + needs.cache;
  return kept + std::max(kLeastWorkingBytes, kept / 16);
}

[[noreturn]] void fail_too_small(const gpu::GpuProperties& gpu, const LoadedBytes& needs,
                                 size_t free_bytes) {
  const auto free = static_cast<int64_t>(free_bytes);
  const std::string smaller =
      needs.weights_as_q8_0 < std::min(needs.weights, free)
          ? fmt::format("load it with weights q8_0, {} bytes, or on the CPU",
                        grouped(needs.weights_as_q8_0))
          : "load it on the CPU";
  fail("the model's weights take {} bytes, and {} are free on GPU {} ({}): {}",
       grouped(needs.weights), grouped(free), gpu.ordinal, gpu.name, smaller);
}

std::vector<gpu::GpuProperties> gpus_or_none() {
  try {
    return gpu::gpus();
  } catch (const Error&) {
    return {};
  }
}

/// Whatever is wrong with GPUs, there is the CPU.
Device* automatic_device(const std::function<LoadedBytes()>& needs) {
  std::vector<gpu::GpuProperties> all = gpus_or_none();
  std::erase_if(all, [](const auto& gpu) { return gpu.major < gpu::kOldestMajor; });
  if (all.empty()) return nullptr;
  const auto bytes = static_cast<size_t>(bytes_for_all(needs()));
  for (const gpu::GpuProperties& gpu : all) {
    if (gpu.memory_bytes < bytes) continue;  // opening one takes time
    try {
      if (Device* device = kernels::open_gpu_with(gpu.ordinal, bytes).device) return device;
    } catch (const Error&) {
      continue;
    }
  }
  return nullptr;
}

Device* open_for_weights(const gpu::GpuProperties& gpu, const LoadedBytes& needs) {
  const auto opened = kernels::open_gpu_with(gpu.ordinal, static_cast<size_t>(needs.weights));
  if (!opened.device) fail_too_small(gpu, needs, opened.free_bytes);
  return opened.device;
}

/// The first that can be used and has room for the weights, else what is wrong with the first.
Device* first_gpu(const std::vector<gpu::GpuProperties>& all, const LoadedBytes& needs) {
  std::exception_ptr problem;
  for (const gpu::GpuProperties& gpu : all) {
    try {
      return open_for_weights(gpu, needs);
    } catch (const Error&) {
      if (!problem) problem = std::current_exception();
    }
  }
  std::rethrow_exception(problem);
}

}  // namespace

DeviceChoice parse_device(std::string_view device) {
  if (device == "cpu") return {.cpu = true};
  if (device == "auto") return {.automatic = true};
  if (device == "gpu") return {};
  constexpr std::string_view kNumbered = "gpu:";
  std::optional<int> ordinal;
  if (device.starts_with(kNumbered)) ordinal = parse_number<int>(device.substr(kNumbered.size()));
  require_input(ordinal && *ordinal >= 0, "device is {}, expected cpu, gpu, gpu:N or auto",
                quoted(device));
  return {.ordinal = ordinal};
}

Device* device_for(std::string_view device, const std::function<LoadedBytes()>& needs) {
  const DeviceChoice choice = parse_device(device);
  if (choice.cpu) return nullptr;
  if (choice.automatic) return automatic_device(needs);
  std::vector<gpu::GpuProperties> all = gpu::gpus();
  require(!all.empty(), "device is {}, and the driver finds no GPU", quoted(device));
  if (choice.ordinal) {
    require(*choice.ordinal < static_cast<int>(all.size()),
            "device is {}, and this machine has {} GPUs, numbered from 0", quoted(device),
            all.size());
    all = {all[static_cast<size_t>(*choice.ordinal)]};
  }
  return first_gpu(all, needs());
}

const gpu::Gpu* gpu_of(const Model& model) { return loaded(model).gpu(); }

}  // namespace heed::engine
