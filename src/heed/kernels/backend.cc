#include "heed/kernels/backend.h"

#include <atomic>

namespace heed::kernels {
namespace {
std::atomic<Backend> chosen{Backend::cpu};
}

Backend backend() { return chosen.load(std::memory_order_relaxed); }
void set_backend(Backend backend) { chosen.store(backend, std::memory_order_relaxed); }

}  // namespace heed::kernels
