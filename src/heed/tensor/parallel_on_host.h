#pragma once

#include "heed/base/parallel.h"
#include "heed/tensor/device.h"

namespace heed {

/// Calls body(i, i + 1) for each i of [0, count) in parallel; on a device, which has one queue of
/// kernels, body(0, count).
template <typename Body>
void parallel_on_host(int64_t count, const Body& body) {
  if (current_device())
    body(0, count);
  else
    parallel_for(count, 1, body);
}

}  // namespace heed
