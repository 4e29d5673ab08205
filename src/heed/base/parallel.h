#pragma once

#include <cstdint>
#include <functional>

namespace heed {

/// Number of threads that parallel_for uses, the calling one included. At first: the processors
/// this process may run on. May be asked from anywhere, also from inside a body.
int thread_count();

/// Sets the number of threads (at least 1). Not to be called while a parallel_for is running.
/// Throws Error when `count` is below 1 or above 1024, or when the system has no more threads.
void set_thread_count(int count);

/// Calls body(begin, end) for pieces of [0, count) of at most `grain` items, on all threads;
/// returns when all are done. Which thread gets which piece is decided while running, so a body
/// must not let its result depend on it: every heed kernel gives the same bits on any number of
/// threads. Calls from inside a body run on the calling thread alone. An exception thrown by a body
/// is rethrown here once the others have finished.
void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

}  // namespace heed
