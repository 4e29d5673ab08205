#include "heed/kernels/backend.h"

#include <atomic>

#include "heed/kernels/testing.h"

namespace heed::kernels {
namespace {
std::atomic<Backend> current{Backend::cpu};
}

Backend backend() { return current.load(std::memory_order_relaxed); }
void set_backend(Backend backend) { current.store(backend, std::memory_order_relaxed); }

}  // namespace heed::kernels
