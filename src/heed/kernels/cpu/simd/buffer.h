#pragma once

#include <cstdint>
#include <memory>

#include "heed/tensor/allocator.h"

namespace heed::kernels::cpu {

/// Memory that only grows, kept by a thread from one product to the next.
class Buffer {
 public:
  std::byte* at_least(int64_t bytes) {
    if (bytes > size_) {
      memory_.reset();
      size_ = 0;  // in case allocate() throws
      memory_ = allocate(static_cast<size_t>(bytes));
      size_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::shared_ptr<std::byte> memory_;
  int64_t size_ = 0;
};

}  // namespace heed::kernels::cpu
