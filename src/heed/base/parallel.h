#pragma once

#include <cstdint>

namespace heed {

/// The number of threads that a parallel_for called here uses, including the calling thread: 1
/// inside a body that several threads run. Default: the processors this process may run on.
int thread_count();

/// Sets the number of threads, 1 to 1024. Must not be called while a parallel_for is running.
/// Throws Error when `count` is out of range or the system cannot start that many threads.
void set_thread_count(int count);

/// A type-erased reference to a body of parallel_for. Two pointers, because a std::function would
/// allocate at every call. The body must outlive it.
class ParallelBody {
 public:
  template <typename Body>
  explicit ParallelBody(const Body& body)
      : body_(&body), call_([](const void* erased, int64_t begin, int64_t end) {
          (*static_cast<const Body*>(erased))(begin, end);
        }) {}

  void operator()(int64_t begin, int64_t end) const { call_(body_, begin, end); }

 private:
  const void* body_;
  void (*call_)(const void*, int64_t, int64_t);
};

/// parallel_for with more than one chunk.
void run_chunks(int64_t count, int64_t grain, ParallelBody body);

/// Calls body(begin, end) on all threads for chunks of at most `grain` consecutive items of
/// [0, count); returns when all chunks are done. The chunks are the same for any number of threads,
/// but which thread runs a chunk varies, so a result must not depend on it: every heed kernel
/// computes the same bits with any number of threads. A single chunk is a plain call. A nested call
/// runs on its calling thread alone. The first exception that a body throws is rethrown here once
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
