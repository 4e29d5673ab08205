#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu_simulator/fiber.h"
#include "gpu_simulator/tensor_core.h"
#include "heed/export.h"

namespace heed::gpu_simulator {

constexpr unsigned kWarpLanes = 32;

/// What lanes hand to an operation of their warp, and get from it: 32-bit registers, an address in
/// two of them.
using Registers = std::array<uint32_t, 16>;

/// An operation that all 32 lanes of a warp execute together. It replaces what each lane handed in
/// by what it gets.
using WarpOperation = void (*)(std::array<Registers, kWarpLanes>& lanes, unsigned argument,
                               TensorCores cores);

struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

/// A kernel as the simulator calls it: the body for one thread.
struct Kernel {
  const char* name;
  void (*body)(const void* arguments);
  size_t argument_bytes;
};

struct Launch {
  const Kernel* kernel;
  const void* arguments;
  Dimensions grid;
  unsigned threads;  // of a block, in one dimension
  size_t shared_bytes;
  TensorCores cores;
  /// Chooses which thread runs next; 0: the threads take turns in order.
  uint32_t seed;
};

/// A block of threads, each a fiber. A warp operation is done when all 32 lanes of the warp have
/// come to it, a barrier opens when all threads have. Shared memory begins as NaN, and an
/// asynchronous copy fills its target with NaN until it is waited for, so that what is read too
/// early shows in the results.
class HEED_EXPORT Block {
 public:
  Block(const Launch& launch, Dimensions index);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Runs all threads to their end. Returns what the kernel did wrong ("block 2, thread 33: lanes
  /// of a warp diverged"), "" for nothing.
  std::string run();

  /// The block whose thread is running on this thread of the host.
  static Block& current();

  // Called by the thread that is running.

  unsigned thread() const { return running_; }
  Dimensions index() const { return index_; }
  const Launch& launch() const { return launch_; }
  std::byte* shared() { return shared_.data() + shared_offset_; }

  void synchronize();
  void run_in_warp(WarpOperation operation, unsigned argument, Registers& registers);
  void copy_later(void* to, const void* from, size_t bytes);
  void commit_copies() { ++threads_[running_].open_group; }
  /// Finishes all groups of copies of the thread but the last `pending` that were committed.
  void wait_for_copies(unsigned pending);
  /// Ends the block: the kernel is wrong.
  void fail(const std::string& what);

 private:
  enum class State : uint8_t { ready, in_warp_operation, at_barrier };

  struct Copy {
    void* to;
    const void* from;
    size_t bytes;
    unsigned group;
  };

  struct Thread {
    Fiber fiber;
    State state = State::ready;
    std::vector<Copy> copies;
    unsigned open_group = 0;
  };

  struct Warp {
    std::array<Registers, kWarpLanes> lanes;
    WarpOperation operation = nullptr;
    unsigned argument = 0, arrived = 0;
  };

  /// Runs a thread until it waits. Returns whether it could run.
  bool run_thread(unsigned thread);
  bool run_in_order();
  /// Each warp as far as it can go, or some steps; its lanes in a random order.
  bool run_at_random();
  bool open_barrier();
  void name_deadlock();
  unsigned random(unsigned below);

  Launch launch_;
  Dimensions index_;
  std::vector<std::unique_ptr<std::byte[]>> stacks_;
  std::vector<std::byte> shared_;
  size_t shared_offset_ = 0;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  unsigned running_ = 0, alive_ = 0;
  uint32_t random_state_;
  std::string fault_;
};

}  // namespace heed::gpu_simulator
