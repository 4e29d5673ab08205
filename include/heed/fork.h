#pragma once

#include "heed/executor.h"
#include "heed/export.h"

namespace heed {

/// To be called in a forked child, before it computes, for every Executor that the parent has
/// computed on. The child has only the thread that forked; the Executor forgets the others and
/// starts new ones with the next computation. Models and sessions that use it can be used, unless
/// another thread of the parent was using them at the moment of the fork.
HEED_EXPORT void restart_after_fork(const Executor& executor);

}  // namespace heed
