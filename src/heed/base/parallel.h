#pragma once

#include <cstdint>

namespace heed {

/// Number of threads that parallel_for uses here, the calling one included: 1 inside a body whose
/// pieces several threads share. At first: the processors this process may run on.
int thread_count();

/// Sets the number of threads (at least 1). Not to be called while a parallel_for is running.
/// Throws Error when `count` is below 1 or above 1024, or when the system has no more threads.
void set_thread_count(int count);

/// A body of parallel_for without its type: two pointers instead of a std::function, which would
/// ask the heap for room at every call. The body must outlive it.
class ParallelBody {
 public:
  template <typename Body>
  explicit ParallelBody(const Body& body)
      : body_(&body), call_([](const void* typeless, int64_t begin, int64_t end) {
          (*static_cast<const Body*>(typeless))(begin, end);
        }) {}

  void operator()(int64_t begin, int64_t end) const { call_(body_, begin, end); }

 private:
  const void* body_;
  void (*call_)(const void*, int64_t, int64_t);
};

/// parallel_for for more than one piece.
void run_pieces(int64_t count, int64_t grain, ParallelBody body);

/// Calls body(begin, end) for pieces of [0, count) of at most `grain` items, on all threads;
/// returns when all are done. Which thread gets which piece is decided while running, so a body
/// must not let its result depend on it: every heed kernel gives the same bits on any number of
/// threads. A single piece is a plain call. Calls from inside a body run on the calling thread
/// alone. An exception thrown by a body is rethrown here once the others have finished.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count > grain)
    run_pieces(count, grain, ParallelBody(body));
  else if (count > 0)
    body(0, count);
}

/// parallel_in_order for more than one piece.
void run_in_order(int64_t count, int64_t grain, ParallelBody body);

/// parallel_for for few and long pieces: they are begun in their order, each by the next thread
/// that has nothing to do, and what a body calls runs on its thread alone. (A single piece is a
/// plain call, which has all threads.) When bodies throw, no further piece is begun, and the
/// exception of the first piece that threw is rethrown: the same one on any number of threads.
template <typename Body>
void parallel_in_order(int64_t count, int64_t grain, const Body& body) {
  if (count > grain)
    run_in_order(count, grain, ParallelBody(body));
  else if (count > 0)
    body(0, count);
}

}  // namespace heed
