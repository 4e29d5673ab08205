#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heed/gpu/gpu.h"

namespace heed::gpu {

/// Work of a GPU that is done again and again (CUDA graphs): the kernels and copies of a run are
/// collected, then started as one graph, made by an earlier run with the same key. Of the graph's
/// nodes those are changed whose arguments differ; if the kernels are others, a new graph is made.
/// So a run does what its work does without this, in every case.
///
/// - The first run with a key starts its work without a graph.
/// - Work that waits for the GPU, copies from it, fills memory or uploads very much is started
///   without a graph; after some such runs none is tried with its key.
/// - What the work allocates comes from memory of the runner, which what it leaves keeps alive.
///   Other threads may use the GPU meanwhile.
class GraphRunner final : public heed::GraphRunner {
 public:
  explicit GraphRunner(Gpu& gpu);
  ~GraphRunner() override;
  GraphRunner(const GraphRunner&) = delete;
  GraphRunner& operator=(const GraphRunner&) = delete;

  void run(int64_t key, const std::function<void()>& work) override;

  /// Runs that started a graph, and nodes of graphs that were changed for them.
  int64_t graph_launches() const { return graph_launches_; }
  int64_t changed_nodes() const { return changed_nodes_; }

 private:
  friend class Gpu;
  struct Memory;
  enum class Kind { kernel, upload, copy };
  struct Operation {
    Kind kind;
    Driver::Handle function = nullptr;
    LaunchShape shape = {};
    size_t begin = 0, bytes = 0;  // of the arguments in Operations::arguments, or of the copy
    Driver::Pointer to = 0, from = 0;
  };
  struct Operations {
    std::vector<Operation> all;
    std::vector<std::byte> arguments;

    void clear();
    bool equal(const Operations& other, size_t i) const;
  };
  /// What earlier runs with a key have left.
  struct Entry {
    Operations operations;  // of the graph
    Driver::Handle executable = nullptr;
    std::vector<Driver::Handle> nodes;
    int runs_without_graph = 0;  // in a row
    uint64_t last_run = 0;
  };

  /// The runner whose work this thread does on a GPU; or null.
  static GraphRunner* recording_on(const Gpu& gpu);
  void add_launch(Driver::Handle function, const LaunchShape& shape,
                  std::span<const std::byte> arguments);
  /// Returns false if there is no room.
  bool add_upload(Driver::Pointer to, std::span<const std::byte> from);
  void add_copy(Driver::Pointer to, Driver::Pointer from, size_t bytes);
  std::shared_ptr<std::byte> allocate(size_t bytes);
  void start_without_graph();

  Entry* entry(int64_t key);
  bool record(const std::function<void()>& work);
  void start(Entry& entry);
  bool fits(const Entry& entry) const;
  template <typename OnKernel, typename OnCopy>
  Driver::Result with_node(const Operation& one, const OnKernel& on_kernel, const OnCopy& on_copy);
  void make_graph(Entry& entry);
  void change_graph(Entry& entry);
  void destroy(Entry& entry) noexcept;

  Gpu& gpu_;
  std::shared_ptr<Memory> memory_;
  std::shared_ptr<std::byte> pinned_;  // of the uploads
  size_t pinned_bytes_ = 0;            // used by the run
  bool uploads_are_read_ = true;
  Operations recorded_;
  std::unordered_map<int64_t, Entry> entries_;
  uint64_t runs_ = 0;
  int64_t graph_launches_ = 0, changed_nodes_ = 0;
};

}  // namespace heed::gpu
