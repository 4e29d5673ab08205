#include "heed/kernels/backend.h"

#include <utility>

#include "heed/kernels/testing.h"
#include "heed/tensor/device.h"

namespace heed::kernels {
namespace {
thread_local Backend on_host = Backend::cpu;
}

Backend backend() { return current_device() ? Backend::gpu : on_host; }

HostBackendScope::HostBackendScope(Backend backend) : before_(std::exchange(on_host, backend)) {}
HostBackendScope::~HostBackendScope() { on_host = before_; }

}  // namespace heed::kernels
