#pragma once

#include "heed/base/parallel.h"
#include "heed/tensor/device.h"

namespace heed {

/// Calls body(begin, end) for parts of [0, count): with one element each in parallel on the host.
/// On a device, which has one queue of kernels, all at once.
template <typename Body>
void parallel_on_host(int64_t count, const Body& body) {
  if (current_device())
    body(0, count);
  else
    parallel_for(count, 1, body);
}

}  // namespace heed
