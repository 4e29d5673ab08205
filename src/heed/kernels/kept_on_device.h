#pragma once

#include <memory>
#include <mutex>

namespace heed::kernels {

/// A value that kernels of a GPU make of the object that has this as a member, at its first use. A
/// copy of the object begins without it.
class KeptOnDevice {
 public:
  KeptOnDevice() = default;
  KeptOnDevice(const KeptOnDevice&) {}
  KeptOnDevice& operator=(const KeptOnDevice&) {
    forget();
    return *this;
  }
  ~KeptOnDevice() = default;

  /// To be called when the object has changed.
  void forget() {
    const std::lock_guard lock(mutex_);
    value_ = nullptr;
  }

  /// Calls use(value), which may set it, while no other thread does.
  template <typename Use>
  decltype(auto) with(const Use& use) const {
    const std::lock_guard lock(mutex_);
    return use(value_);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<void> value_;
};

}  // namespace heed::kernels
