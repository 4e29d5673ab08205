#include "heed/gpu/graph.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "heed/base/rounding.h"
#include "heed/base/sanitizer.h"

namespace heed::gpu {
namespace {

constexpr int kRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED: the arena may grow meanwhile
constexpr unsigned kNonBlockingStream = 1;
/// A graph takes memory of the GPU's arena in areas of this size, or of a 32nd of a small GPU.
constexpr size_t kGraphArea = size_t{8} << 20;

constinit thread_local Graph* recorded_here = nullptr;

}  // namespace

/// Blocks of what was recorded: a freed one serves again in the same graph, and nothing else.
struct Graph::Memory {
  Mutex mutex;
  Arena arena HEED_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<std::byte>> areas HEED_GUARDED_BY(mutex);
  size_t bytes HEED_GUARDED_BY(mutex) = 0;
};

Graph* Graph::recording_on(const Gpu& gpu) {
  return recorded_here && &recorded_here->gpu_ == &gpu ? recorded_here : nullptr;
}

Graph::Graph(Gpu& gpu, const std::function<void()>& work)
    : gpu_(gpu), memory_(std::make_shared<Memory>()) {
  require(!recorded_here, "a graph is recorded while another one is");
  gpu_.make_current();
  gpu_.check(gpu_.driver_.cuStreamCreate(&stream_, kNonBlockingStream), "recording a graph");
  try {
    record(work);
  } catch (...) {
    gpu_.driver_.cuStreamDestroy(std::exchange(stream_, nullptr));
    throw;
  }
  gpu_.driver_.cuStreamDestroy(std::exchange(stream_, nullptr));
}

void Graph::record(const std::function<void()>& work) {
  const Driver& driver = gpu_.driver_;
  gpu_.check(driver.cuStreamBeginCapture(stream_, kRelaxed), "recording a graph");
  recorded_here = this;
  std::exception_ptr error;
  try {
    work();
  } catch (...) {
    error = std::current_exception();
  }
  recorded_here = nullptr;
  Driver::Handle graph = nullptr;
  const Driver::Result ended = driver.cuStreamEndCapture(stream_, &graph);
  Driver::Result made = 0;
  if (!error && ended == 0) made = driver.cuGraphInstantiateWithFlags(&executable_, graph, 0);
  if (graph) driver.cuGraphDestroy(graph);
  if (error) std::rethrow_exception(error);
  gpu_.check(ended, "recording a graph");
  gpu_.check(made, "making a graph of what was recorded");
}

Graph::~Graph() {
  if (gpu_.process_.is_forked()) return;
  gpu_.driver_.cuCtxSetCurrent(gpu_.context_);
  gpu_.driver_.cuGraphExecDestroy(executable_);
}

void Graph::launch() {
  gpu_.require_not_recording("the launch of a graph");
  gpu_.make_current();
  gpu_.check(gpu_.driver_.cuGraphLaunch(executable_, gpu_.stream_), "starting a graph");
}

size_t Graph::memory_bytes() const {
  const MutexLock lock(memory_->mutex);
  return memory_->bytes;
}

std::shared_ptr<std::byte> Graph::allocate(size_t bytes) {
  const size_t size = round_up(std::max<size_t>(bytes, 1), Arena::kGranule);
  const size_t usual =
      std::min(kGraphArea, round_up(gpu_.properties_.memory_bytes / 32, Arena::kGranule));
  const MutexLock lock(memory_->mutex);
  std::byte* block = memory_->arena.take(size);
  if (!block) {
    const size_t area = std::max(size, usual);
    memory_->areas.push_back(gpu_.allocate_from_arena(area));
    memory_->bytes += area;
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
