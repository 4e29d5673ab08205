#pragma once

#include <functional>
#include <memory>

#include "heed/gpu/gpu.h"

namespace heed::gpu {

/// Work of a GPU that is recorded once and then started as one, which takes the host a few
/// microseconds however many kernels it has. A run repeats the kernels, copies and fills with the
/// same addresses and arguments:
/// - What the work allocates belongs to the graph. A result holds what the last run computed; it
///   may outlive the graph. What the work reads beside that must stay in its place.
/// - Copies from the host must be from pinned memory (Gpu::allocate_pinned). Each run reads what is
///   there then: that is how runs differ. It may be written again when the run has read it, which
///   is certain after something that waits for the GPU.
/// - The work must not wait for the GPU, nor copy to the host.
/// - The same work must have been done once without recording it: that loads its kernels.
class Graph {
 public:
  /// Records what `work` starts on this thread, and does none of it. Other threads may use the GPU
  /// meanwhile. Throws what `work` throws.
  Graph(Gpu& gpu, const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Starts a run, in the order of the GPU's other work.
  void launch();

  /// Bytes of the GPU's memory that the graph keeps.
  size_t memory_bytes() const;

 private:
  friend class Gpu;
  struct Memory;

  /// The graph of a GPU that this thread records; or null.
  static Graph* recording_on(const Gpu& gpu);
  std::shared_ptr<std::byte> allocate(size_t bytes);
  void record(const std::function<void()>& work);

  Gpu& gpu_;
  std::shared_ptr<Memory> memory_;
  Driver::Handle stream_ = nullptr, executable_ = nullptr;  // the stream while it is recorded
};

}  // namespace heed::gpu
