#pragma once

#include <cstdint>

#include "heed/base/parallel_body.h"
#include "heed/executor.h"

namespace heed {

/// While one exists, its thread computes on that Executor, which must outlive it. Scopes of a
/// thread are destroyed in reverse order.
class ExecutorScope {
 public:
  explicit ExecutorScope(Executor& executor);
  ~ExecutorScope();
  ExecutorScope(const ExecutorScope&) = delete;
  ExecutorScope& operator=(const ExecutorScope&) = delete;

 private:
  Executor& before_;
};

/// The Executor of the calling thread's innermost scope; Executor::shared() without one.
Executor& current_executor();

/// The number of threads that a parallel_for called here uses at most, including the calling
/// thread: those of the current Executor, or 1 inside a body that several threads run.
int thread_count();

/// parallel_for with more than one chunk.
void run_chunks(int64_t count, int64_t grain, ParallelBody body);

/// Calls body(begin, end) on all threads of the current Executor for chunks of at most `grain`
/// consecutive items of [0, count); returns when all chunks are done. The chunks are the same for
/// any number of threads, but which thread runs a chunk varies, so a result must not depend on it:
/// every heed kernel computes the same bits with any number of threads. A single chunk is a plain
/// call. A nested call runs on its calling thread alone, and so does a call on an Executor that is
/// busy with another caller's chunks. The first exception that a body throws is rethrown here once
/// all threads have finished.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count > grain)
    run_chunks(count, grain, ParallelBody(body));
  else if (count > 0)
    body(0, count);
}

/// parallel_in_order with more than one chunk.
void run_in_order(int64_t count, int64_t grain, ParallelBody body);

/// parallel_for for few, long chunks. Chunks start in order, each on the next idle thread, and
/// nested calls run on that thread alone. (A single chunk is a plain call and can use all threads.)
/// Once a body throws, no further chunk starts. The exception of the lowest chunk that threw is
/// rethrown, the same one for any number of threads.
template <typename Body>
void parallel_in_order(int64_t count, int64_t grain, const Body& body) {
  if (count > grain)
    run_in_order(count, grain, ParallelBody(body));
  else if (count > 0)
    body(0, count);
}

}  // namespace heed
