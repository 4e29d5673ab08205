#include "heed/tensor/device.h"

#include <utility>

namespace heed {
namespace {
thread_local Device* current = nullptr;
}

Device* current_device() { return current; }

DeviceScope::DeviceScope(Device* device) : before_(std::exchange(current, device)) {}
DeviceScope::~DeviceScope() { current = before_; }

}  // namespace heed
