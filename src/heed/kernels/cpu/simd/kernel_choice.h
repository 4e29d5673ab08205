#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace heed::kernels::cpu {

/// The kernels of a kind that this machine has, the fastest first: each is faster than those after
/// it for products of Kernel::least_rows rows and more.
template <typename Kernel>
class KernelChoice {
 public:
  /// Those that are null are not here.
  KernelChoice(std::initializer_list<const Kernel*> kernels) {
    for (const Kernel* kernel : kernels)
      if (kernel) kernels_.push_back(kernel);
  }

  const std::vector<const Kernel*>& all() const { return kernels_; }

  /// That kernel alone is used; null: what is fastest. For tests.
  void force(const Kernel* kernel) { forced_ = kernel; }

  const Kernel& of(int64_t rows) const {
    if (const Kernel* kernel = forced_.load(std::memory_order_relaxed)) return *kernel;
    return **std::find_if(kernels_.begin(), kernels_.end(),
                          [&](const Kernel* kernel) { return rows >= kernel->least_rows; });
  }

 private:
  std::vector<const Kernel*> kernels_;
  std::atomic<const Kernel*> forced_{nullptr};
};

}  // namespace heed::kernels::cpu
