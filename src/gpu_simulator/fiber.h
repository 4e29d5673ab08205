#pragma once

#include <cstddef>
#include <span>

namespace heed::gpu_simulator {

/// A function on a stack of its own, which takes turns with the thread that resumes it. Switching
/// takes a dozen instructions: a simulated kernel does it at every barrier and warp operation.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Prepares entry(argument) on `stack`. What ran there before is dropped, wherever it was.
  void start(std::span<std::byte> stack, Entry entry, void* argument);

  /// Runs the function until it suspends itself or returns.
  void resume();

  /// Returns to resume(). Called by the function.
  void suspend();

  bool is_done() const { return done_; }

 private:
  static void run();
  void drop();

  std::span<std::byte> stack_;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  void* stack_pointer_ = nullptr;        // while it is suspended
  void* resumer_ = nullptr;              // stack pointer of who resumed it, while it runs
  const void* resumer_stack_ = nullptr;  // for AddressSanitizer
  size_t resumer_stack_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_resumer_ = nullptr;
  bool done_ = true;
};

}  // namespace heed::gpu_simulator
