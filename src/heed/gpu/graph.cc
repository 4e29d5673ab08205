#include "heed/gpu/graph.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "heed/base/rounding.h"
#include "heed/base/sanitizer.h"

namespace heed::gpu {
namespace {

/// A runner takes memory of the GPU's arena in areas of this size, or of a 32nd of a small GPU.
constexpr size_t kGraphArea = size_t{8} << 20;
constexpr size_t kPinnedBytes = size_t{1} << 20;
constexpr size_t kPinnedAlignment = 64;
/// Graphs that a runner keeps: those of the last keys.
constexpr size_t kMostGraphs = 16;

/// Runs in a row of work that could not be started as a graph, until none is tried any more.
constexpr int kMostAttempts = 3;

constinit thread_local GraphRunner* recording_here = nullptr;

/// Rounds up by at most a quarter, so that what grows a little from run to run stays in its place,
/// and what follows it, too: then their nodes need no change.
size_t coarse(size_t bytes, size_t granule) {
  return round_up(std::max<size_t>(bytes, 1), std::max(granule, std::bit_floor(bytes) / 4));
}

Driver::KernelNode kernel_node(Driver::Handle function, const LaunchShape& shape,
                               void** arguments) {
  return {.function = function,
          .grid_x = shape.x,
          .grid_y = shape.y,
          .grid_z = shape.z,
          .block_x = shape.threads,
          .block_y = 1,
          .block_z = 1,
          .shared_bytes = static_cast<unsigned>(shape.shared_bytes),
          .arguments = arguments,
          .extra = nullptr};
}

Driver::CopyNode copy_node(Driver::Pointer to, Driver::Pointer from, bool from_host, size_t bytes) {
  Driver::CopyNode node{};
  node.from_type = from_host ? Driver::CopyNode::kHost : Driver::CopyNode::kDevice;
  if (from_host)
    node.from_host = reinterpret_cast<const std::byte*>(from);
  else
    node.from_device = from;
  node.to_type = Driver::CopyNode::kDevice;
  node.to_device = to;
  node.width = bytes;
  node.height = node.depth = 1;
  return node;
}

}  // namespace

/// A freed block serves again in the same runner, and nothing else: what other threads start must
/// not come between.
struct GraphRunner::Memory {
  Mutex mutex;
  Arena arena HEED_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<std::byte>> areas HEED_GUARDED_BY(mutex);
};

void GraphRunner::Operations::clear() {
  all.clear();
  arguments.clear();
}

/// Whether a node for operation i of `other` does this one.
bool GraphRunner::Operations::equal(const Operations& other, size_t i) const {
  const Operation &a = all[i], &b = other.all[i];
  if (a.bytes != b.bytes) return false;
  if (a.kind != Kind::kernel) return a.to == b.to && a.from == b.from;
  return a.shape == b.shape &&
         std::memcmp(arguments.data() + a.begin, other.arguments.data() + b.begin, a.bytes) == 0;
}

GraphRunner* GraphRunner::recording_on(const Gpu& gpu) {
  return recording_here && &recording_here->gpu_ == &gpu ? recording_here : nullptr;
}

GraphRunner::GraphRunner(Gpu& gpu)
    : gpu_(gpu), memory_(std::make_shared<Memory>()), pinned_(gpu.allocate_pinned(kPinnedBytes)) {}

GraphRunner::~GraphRunner() {
  if (gpu_.process_.is_forked()) return;
  gpu_.driver_.cuCtxSetCurrent(gpu_.context_);
  for (auto& [key, entry] : entries_) destroy(entry);
}

void GraphRunner::destroy(Entry& entry) noexcept {
  if (entry.executable) gpu_.driver_.cuGraphExecDestroy(entry.executable);
  entry.executable = nullptr;
  entry.nodes.clear();
}

/// That of a key which has come before; null, and one from now on, if it has not.
GraphRunner::Entry* GraphRunner::entry(int64_t key) {
  const auto [found, is_new] = entries_.try_emplace(key);
  found->second.last_run = ++runs_;
  if (!is_new) return &found->second;
  if (entries_.size() > kMostGraphs) {
    const auto oldest =
        std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second.last_run; });
    destroy(oldest->second);
    entries_.erase(oldest);
  }
  return nullptr;
}

void GraphRunner::run(int64_t key, const std::function<void()>& work) {
  require(!recording_here, "a graph is recorded while another one is");
  gpu_.make_current();
  Entry* const entry = this->entry(key);
  if (!entry || entry->runs_without_graph >= kMostAttempts) return work();
  if (!uploads_are_read_) gpu_.synchronize();
  uploads_are_read_ = true;
  pinned_bytes_ = 0;
  recorded_.clear();
  if (record(work)) {
    entry->runs_without_graph = 0;
    return start(*entry);
  }
  ++entry->runs_without_graph;
  destroy(*entry);
}

/// Collects the operations of `work`. Returns false if they were started without a graph. What was
/// collected before an error is started, as if it had been at once: tensors that stay may need it.
bool GraphRunner::record(const std::function<void()>& work) {
  recording_here = this;
  try {
    work();
  } catch (...) {
    gpu_.stop_recording();
    throw;
  }
  return std::exchange(recording_here, nullptr) == this;
}

void GraphRunner::start(Entry& entry) {
  gpu_.make_current();
  try {
    if (fits(entry))
      change_graph(entry);
    else
      make_graph(entry);
  } catch (...) {
    destroy(entry);
    throw;
  }
  std::swap(entry.operations, recorded_);
  gpu_.check(gpu_.driver_.cuGraphLaunch(entry.executable, gpu_.stream_), "starting a graph");
  uploads_are_read_ = false;
  ++graph_launches_;
}

void GraphRunner::add_launch(Driver::Handle function, const LaunchShape& shape,
                             std::span<const std::byte> arguments) {
  // Arguments are aligned as any may be.
  const size_t begin = round_up(recorded_.arguments.size(), alignof(std::max_align_t));
  recorded_.arguments.resize(begin + arguments.size());
  std::memcpy(recorded_.arguments.data() + begin, arguments.data(), arguments.size());
  recorded_.all.push_back({Kind::kernel, function, shape, begin, arguments.size()});
}

bool GraphRunner::add_upload(Driver::Pointer to, std::span<const std::byte> from) {
  if (from.size() > kPinnedBytes - pinned_bytes_) return false;
  std::byte* const kept = pinned_.get() + pinned_bytes_;
  std::memcpy(kept, from.data(), from.size());
  pinned_bytes_ = std::min(pinned_bytes_ + coarse(from.size(), kPinnedAlignment), kPinnedBytes);
  recorded_.all.push_back({.kind = Kind::upload,
                           .bytes = from.size(),
                           .to = to,
                           .from = reinterpret_cast<uintptr_t>(kept)});
  return true;
}

void GraphRunner::add_copy(Driver::Pointer to, Driver::Pointer from, size_t bytes) {
  recorded_.all.push_back({.kind = Kind::copy, .bytes = bytes, .to = to, .from = from});
}

/// Starts what was collected; what follows is started at once.
void GraphRunner::start_without_graph() {
  recording_here = nullptr;
  uploads_are_read_ = false;
  gpu_.make_current();
  for (const Operation& one : recorded_.all) {
    if (one.kind == Kind::kernel)
      gpu_.check(gpu_.start(one.function, one.shape, recorded_.arguments.data() + one.begin),
                 "starting a kernel");
    else if (one.kind == Kind::upload)
      gpu_.check(gpu_.driver_.cuMemcpyHtoDAsync(
                     one.to, reinterpret_cast<const std::byte*>(one.from), one.bytes, gpu_.stream_),
                 "copying to it");
    else
      gpu_.check(gpu_.driver_.cuMemcpyDtoDAsync(one.to, one.from, one.bytes, gpu_.stream_),
                 "copying");
  }
}

/// Whether the graph has the kernels and copies that were collected, whatever their arguments.
bool GraphRunner::fits(const Entry& entry) const {
  const auto same = [](const Operation& a, const Operation& b) {
    return a.kind == b.kind && a.function == b.function;
  };
  return entry.executable && std::ranges::equal(entry.operations.all, recorded_.all, same);
}

/// Calls one of the two with the parameters of an operation's node.
template <typename OnKernel, typename OnCopy>
Driver::Result GraphRunner::with_node(const Operation& one, const OnKernel& on_kernel,
                                      const OnCopy& on_copy) {
  if (one.kind != Kind::kernel)
    return on_copy(copy_node(one.to, one.from, one.kind == Kind::upload, one.bytes));
  void* arguments = recorded_.arguments.data() + one.begin;
  return on_kernel(kernel_node(one.function, one.shape, &arguments));
}

/// One node after the other.
void GraphRunner::make_graph(Entry& entry) {
  destroy(entry);
  const Driver& driver = gpu_.driver_;
  Driver::Handle graph = nullptr;
  gpu_.check(driver.cuGraphCreate(&graph, 0), "making a graph");
  const std::unique_ptr<Driver::Opaque, Driver::Result (*)(Driver::Handle)> owner(
      graph, driver.cuGraphDestroy);
  for (const Operation& one : recorded_.all) {
    const Driver::Handle* const before = entry.nodes.empty() ? nullptr : &entry.nodes.back();
    const size_t count = before ? 1 : 0;
    Driver::Handle node = nullptr;
    const Driver::Result added = with_node(
        one,
        [&](const Driver::KernelNode& kernel) {
          return driver.cuGraphAddKernelNode(&node, graph, before, count, &kernel);
        },
        [&](const Driver::CopyNode& copy) {
          return driver.cuGraphAddMemcpyNode(&node, graph, before, count, &copy, gpu_.context_);
        });
    gpu_.check(added, "making a graph");
    entry.nodes.push_back(node);
  }
  gpu_.check(driver.cuGraphInstantiateWithFlags(&entry.executable, graph, 0), "making a graph");
}

void GraphRunner::change_graph(Entry& entry) {
  const Driver& driver = gpu_.driver_;
  for (size_t i = 0; i < recorded_.all.size(); ++i) {
    if (recorded_.equal(entry.operations, i)) continue;
    ++changed_nodes_;
    const Driver::Result changed = with_node(
        recorded_.all[i],
        [&](const Driver::KernelNode& kernel) {
          return driver.cuGraphExecKernelNodeSetParams(entry.executable, entry.nodes[i], &kernel);
        },
        [&](const Driver::CopyNode& copy) {
          return driver.cuGraphExecMemcpyNodeSetParams(entry.executable, entry.nodes[i], &copy,
                                                       gpu_.context_);
        });
    gpu_.check(changed, "changing a graph");
  }
}

std::shared_ptr<std::byte> GraphRunner::allocate(size_t bytes) {
  const size_t size = coarse(bytes, Arena::kGranule);
  const size_t usual =
      std::min(kGraphArea, round_up(gpu_.properties_.memory_bytes / 32, Arena::kGranule));
  const MutexLock lock(memory_->mutex);
  std::byte* block = memory_->arena.take(size);
  if (!block) {
    const size_t area = std::max(size, usual);
    memory_->areas.push_back(gpu_.allocate_from_arena(area));
    memory_->arena.give_back(memory_->areas.back().get(), area);
    block = memory_->arena.take(size);
  }
  return {block, [memory = memory_, size](std::byte* freed) {
            const MutexLock freeing(memory->mutex);
            memory->arena.give_back(freed, size);
            unpoison_memory(freed, size);  // a run writes to blocks that were freed since
          }};
}

}  // namespace heed::gpu
