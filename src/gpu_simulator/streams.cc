// The functions of the driver for streams, events and graphs (driver.cc has the others).
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gpu_simulator/simulated_driver.h"
#include "heed/export.h"

namespace heed::gpu_simulator {
namespace {

struct Event {
  std::chrono::steady_clock::time_point time;
};

struct GraphNode {
  std::function<void()> work;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  // in the order in which they were added
};

/// A graph to be started. Its nodes are those of the graph that it was made of.
struct ExecutableGraph {
  std::vector<const GraphNode*> order;
  std::map<const GraphNode*, std::function<void()>> work;
};

/// CUDA_KERNEL_NODE_PARAMS_v1.
struct KernelNode {
  const Kernel* function;
  unsigned x, y, z, threads, threads_y, threads_z, shared_bytes;
  void** arguments;
  void** extra;
};

/// CUDA_MEMCPY3D_v2, of which only copies in one dimension to the device are simulated.
struct CopyNode {
  size_t from_place[4];
  int from_type;
  const void* from;
  uint64_t from_device;
  void* from_array[2];
  size_t from_sizes[2];
  size_t to_place[4];
  int to_type;
  void* to_host;
  uint64_t to;
  void* to_array[2];
  size_t to_sizes[2];
  size_t width, height, depth;
};

constexpr int kHostMemory = 1, kDeviceMemory = 2;

/// The work of a node; none if the parameters are not valid.
std::function<void()> work_of(const KernelNode& node) {
  return prepared_launch(node.function, {node.x, node.y, node.z},
                         {node.threads, node.threads_y, node.threads_z}, node.shared_bytes,
                         node.arguments[0]);
}

std::function<void()> work_of(const CopyNode& node) {
  const bool from_host = node.from_type == kHostMemory;
  if ((!from_host && node.from_type != kDeviceMemory) || node.to_type != kDeviceMemory ||
      node.width == 0 || node.height != 1 || node.depth != 1 ||
      (from_host && !simulated().is_pinned(node.from, node.width)))
    return {};
  const void* const from = from_host ? node.from : reinterpret_cast<const void*>(node.from_device);
  return [node, from] { std::memmove(reinterpret_cast<void*>(node.to), from, node.width); };
}

/// A node after the last one: other orders are not simulated.
template <typename Parameters>
int add_node(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
             const Parameters& parameters) {
  const bool is_next =
      graph->nodes.empty() ? count == 0 : count == 1 && *after == graph->nodes.back().get();
  std::function<void()> work = work_of(parameters);
  if (!is_next || !work) return kInvalidValue;
  graph->nodes.push_back(std::make_unique<GraphNode>(GraphNode{std::move(work)}));
  *node = graph->nodes.back().get();
  return 0;
}

template <typename Parameters>
int change_node(ExecutableGraph* executable, const GraphNode* node, const Parameters& parameters) {
  std::function<void()> work = work_of(parameters);
  const auto found = executable->work.find(node);
  if (!work || found == executable->work.end()) return kInvalidValue;
  found->second = std::move(work);
  return 0;
}

}  // namespace
}  // namespace heed::gpu_simulator

using namespace heed::gpu_simulator;

extern "C" {

HEED_EXPORT int cuStreamCreate(Stream** stream, unsigned) {
  return carry_out("cuStreamCreate", [&] {
    *stream = new Stream;
    return 0;
  });
}

HEED_EXPORT int cuStreamDestroy_v2(Stream* stream) {
  delete stream;
  return 0;
}

HEED_EXPORT int cuStreamSynchronize(Stream*) {
  return carry_out("cuStreamSynchronize", [] { return 0; });
}

HEED_EXPORT int cuGraphCreate(Graph** graph, unsigned) {
  return carry_out("cuGraphCreate", [&] {
    *graph = new Graph;
    return 0;
  });
}

HEED_EXPORT int cuGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                     size_t count, const KernelNode* parameters) {
  return carry_out("cuGraphAddKernelNode",
                   [&] { return add_node(node, graph, after, count, *parameters); });
}

HEED_EXPORT int cuGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after,
                                     size_t count, const CopyNode* parameters, void*) {
  return carry_out("cuGraphAddMemcpyNode",
                   [&] { return add_node(node, graph, after, count, *parameters); });
}

HEED_EXPORT int cuGraphInstantiateWithFlags(ExecutableGraph** executable, const Graph* graph,
                                            unsigned long long) {
  return carry_out("cuGraphInstantiateWithFlags", [&] {
    auto made = std::make_unique<ExecutableGraph>();
    for (const auto& node : graph->nodes) {
      made->order.push_back(node.get());
      made->work.emplace(node.get(), node->work);
    }
    *executable = made.release();
    return 0;
  });
}

HEED_EXPORT int cuGraphExecKernelNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                               const KernelNode* parameters) {
  return carry_out("cuGraphExecKernelNodeSetParams",
                   [&] { return change_node(executable, node, *parameters); });
}

HEED_EXPORT int cuGraphExecMemcpyNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                               const CopyNode* parameters, void*) {
  return carry_out("cuGraphExecMemcpyNodeSetParams",
                   [&] { return change_node(executable, node, *parameters); });
}

HEED_EXPORT int cuGraphLaunch(const ExecutableGraph* executable, Stream*) {
  return carry_out("cuGraphLaunch", [&] {
    for (const GraphNode* const node : executable->order)
      if (simulated().fault().empty()) executable->work.at(node)();
    return 0;
  });
}

// Only their addresses name the nodes afterwards.
HEED_EXPORT int cuGraphDestroy(Graph* graph) {
  delete graph;
  return 0;
}

HEED_EXPORT int cuGraphExecDestroy(ExecutableGraph* executable) {
  delete executable;
  return 0;
}

HEED_EXPORT int cuEventCreate(Event** event, unsigned) {
  return carry_out("cuEventCreate", [&] {
    *event = new Event;
    return 0;
  });
}

HEED_EXPORT int cuEventDestroy_v2(Event* event) {
  delete event;
  return 0;
}

HEED_EXPORT int cuEventRecord(Event* event, Stream*) {
  return carry_out("cuEventRecord", [&] {
    event->time = std::chrono::steady_clock::now();
    return 0;
  });
}

HEED_EXPORT int cuEventSynchronize(Event*) {
  return carry_out("cuEventSynchronize", [] { return 0; });
}

HEED_EXPORT int cuEventElapsedTime(float* milliseconds, const Event* start, const Event* stop) {
  return carry_out("cuEventElapsedTime", [&] {
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return 0;
  });
}

}  // extern "C"
