#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "heed/kernels/cpu/simd/instructions.h"

namespace heed::kernels::cpu {

/// The kernels of one kind that this machine can run, the fastest first: each is faster than those
/// after it for products of Kernel::min_rows rows and more.
template <typename Kernel>
class KernelChoice {
 public:
  /// Keeps those whose instructions (Kernel::needs) the machine has.
  KernelChoice(std::initializer_list<const Kernel*> kernels) {
    for (const Kernel* kernel : kernels)
      if (has(kernel->needs)) kernels_.push_back(kernel);
  }

  const std::vector<const Kernel*>& all() const { return kernels_; }

  /// Makes of() return that kernel; null: the fastest again. For tests.
  void force(const Kernel* kernel) { forced_ = kernel; }

  /// The fastest for a product of `rows` rows.
  const Kernel& of(int64_t rows) const {
    if (const Kernel* kernel = forced_.load(std::memory_order_relaxed)) return *kernel;
    return **std::find_if(kernels_.begin(), kernels_.end(),
                          [&](const Kernel* kernel) { return rows >= kernel->min_rows; });
  }

 private:
  std::vector<const Kernel*> kernels_;
  std::atomic<const Kernel*> forced_{nullptr};
};

}  // namespace heed::kernels::cpu
