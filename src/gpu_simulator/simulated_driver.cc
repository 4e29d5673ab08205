#include "gpu_simulator/simulated_driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "heed/base/parallel.h"

namespace heed::gpu_simulator {

namespace {

bool loses_gpu(int result) {
  constexpr int kEcc = 214, kNvlink = 220, kIllegalAddress = 700;
  return result == kEcc || result == kNvlink ||
         (result >= kIllegalAddress && result <= kLaunchFailed);
}

}  // namespace

void SimulatedDriver::start() {
  const std::lock_guard lock(calls_mutex_);
  if (open_ == 0) {
    fault_.clear();
    lost_ = 0;
  }
  settings_.clear();
  calls_ = 0;
  const char* text = std::getenv("HEED_SIMULATED_GPU");
  std::istringstream settings(text == nullptr ? "" : text);
  for (std::string setting; std::getline(settings, setting, ',');) {
    const size_t equals = setting.find('=');
    if (equals != setting.npos) settings_[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
}

int64_t SimulatedDriver::setting(const std::string& name, int64_t otherwise) const {
  const auto found = settings_.find(name);
  return found == settings_.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 10);
}

int SimulatedDriver::capability(int device) const {
  const auto found = settings_.find("capability");
  std::istringstream all(found == settings_.end() ? "90" : found->second);
  std::string last;
  for (int i = 0; i <= device; ++i)
    if (std::string one; std::getline(all, one, '+')) last = one;
  return std::atoi(last.c_str());
}

int SimulatedDriver::planned_error(std::string_view function) {
  // Of a lost GPU the driver still says what it is.
  if (lost_ != 0 && function != "cuInit" && !function.starts_with("cuDevice")) return lost_;
  const auto found = settings_.find("fail");
  if (found == settings_.end()) return 0;
  std::istringstream parts(found->second);
  std::string name, result, number = "1";
  std::getline(parts, name, ':');
  std::getline(parts, result, ':');
  std::getline(parts, number, ':');
  if (name != function) return 0;
  const int wanted = std::atoi(number.c_str());
  if (++calls_ != wanted && wanted != 0) return 0;
  const int error = std::atoi(result.c_str());
  if (loses_gpu(error)) lost_ = error;
  return error;
}

int SimulatedDriver::allocate(uint64_t& pointer, size_t bytes) {
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

int SimulatedDriver::free(uint64_t pointer) {
  const auto found = sizes_.find(pointer);
  if (found == sizes_.end()) return kInvalidValue;
  used_ -= found->second;
  sizes_.erase(found);
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}

int SimulatedDriver::allocate_pinned(void*& memory, size_t bytes) {
  memory = std::malloc(bytes);
  if (memory == nullptr) return kOutOfMemory;
  pinned_[reinterpret_cast<uintptr_t>(memory)] = bytes;
  return 0;
}

void SimulatedDriver::free_pinned(void* memory) {
  pinned_.erase(reinterpret_cast<uintptr_t>(memory));
  std::free(memory);
}

bool SimulatedDriver::is_pinned(const void* memory, size_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const auto after = pinned_.upper_bound(begin);
  return after != pinned_.begin() &&
         begin + bytes <= std::prev(after)->first + std::prev(after)->second;
}

void SimulatedDriver::launch(Launch launch) {
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

SimulatedDriver& simulated() {
  static SimulatedDriver driver;
  return driver;
}

}  // namespace heed::gpu_simulator
