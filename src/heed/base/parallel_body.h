#pragma once

#include <cstdint>

namespace heed {

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

}  // namespace heed
