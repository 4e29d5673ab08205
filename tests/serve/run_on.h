#pragma once

#include <functional>
#include <future>

#include "heed/serve/compute_loop.h"

namespace heed::serve {

/// Runs `function` on the compute thread and waits for it.
inline void run_on(ComputeLoop& loop, const std::function<void()>& function) {
  std::promise<void> done;
  loop.post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace heed::serve
