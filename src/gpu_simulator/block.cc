#include "gpu_simulator/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "heed/base/sanitizer.h"

#if defined(HEED_TSAN_FIBERS)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#else
// ThreadSanitizer sees two threads of a block that touch the same memory without a barrier or a
// warp operation between them; these tell it where those are.
inline void __tsan_acquire(void*) {}
inline void __tsan_release(void*) {}
#endif

namespace heed::gpu_simulator {
namespace {

constexpr size_t kStackBytes = size_t{128} << 10;
constexpr size_t kSharedAlignment = 128;
constexpr auto kUnwritten = static_cast<std::byte>(0xff);  // NaN in f32, f16 and bf16

thread_local Block* current_block = nullptr;

// Those of the last block of this thread, for the next one: fresh memory costs the host more than
// most blocks do. Sanitizers would take the next block for a continuation of the last one.
#if defined(HEED_ADDRESS_SANITIZER) || defined(HEED_TSAN_FIBERS)
constexpr bool kKeepStacks = false;
#else
constexpr bool kKeepStacks = true;
#endif
thread_local std::vector<std::unique_ptr<std::byte[]>> kept_stacks;  // kStackBytes each

std::vector<std::unique_ptr<std::byte[]>> take_stacks(size_t count) {
  auto stacks = std::exchange(kept_stacks, {});
  while (stacks.size() < count)
    stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(kStackBytes));
  return stacks;
}

}  // namespace

Block::Block(const Launch& launch, Dimensions index)
    : launch_(launch),
      index_(index),
      stacks_(take_stacks(launch.threads)),
      shared_(launch.shared_bytes + kSharedAlignment, kUnwritten),
      threads_(launch.threads),
      warps_(launch.threads / kWarpLanes),
      alive_(launch.threads),
      // Blocks differ, and the same launch is the same again.
      random_state_(launch.seed + 0x9e3779b9u * (index.x + launch.grid.x * (index.y + index.z))) {
  __tsan_release(&launch_);
  void* begin = shared_.data();
  size_t space = shared_.size();
  std::align(kSharedAlignment, launch.shared_bytes, begin, space);
  shared_offset_ = static_cast<size_t>(static_cast<std::byte*>(begin) - shared_.data());
  for (unsigned i = 0; i < launch.threads; ++i)
    threads_[i].fiber.start(
        std::span(stacks_[i].get(), kStackBytes),
        [](void* launched) {
          auto& of = *static_cast<Launch*>(launched);
          __tsan_acquire(&of);
          of.kernel->body(of.arguments);
          __tsan_release(&of);
        },
        &launch_);
}

Block::~Block() {
  if (kKeepStacks) kept_stacks = std::move(stacks_);
}

Block& Block::current() { return *current_block; }

std::string Block::run() {
  current_block = this;
  while (alive_ > 0 && fault_.empty()) {
    const bool ran = launch_.seed == 0 ? run_in_order() : run_at_random();
    if (fault_.empty() && !open_barrier() && !ran && alive_ > 0) name_deadlock();
  }
  current_block = nullptr;
  __tsan_acquire(&launch_);
  if (fault_.empty()) return "";
  return fmt::format("kernel {}, block ({}, {}, {}), thread {}: {}", launch_.kernel->name, index_.x,
                     index_.y, index_.z, running_, fault_);
}

void Block::name_deadlock() {
  const auto waiting = std::ranges::find(threads_, State::in_warp_operation, &Thread::state);
  if (waiting == threads_.end()) {
    fault_ = "deadlock: some threads wait at a barrier, the others have ended";
    return;
  }
  running_ = static_cast<unsigned>(waiting - threads_.begin());
  fault_ = "deadlock: waits for lanes of its warp that are elsewhere or have ended";
}

bool Block::run_in_order() {
  bool ran = false;
  for (unsigned i = 0; i < launch_.threads && fault_.empty(); ++i) ran |= run_thread(i);
  return ran;
}

bool Block::run_at_random() {
  std::vector<unsigned> order(warps_.size());
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random(static_cast<unsigned>(i))]);
  bool ran = false;
  for (const unsigned warp : order) {
    unsigned steps = random(2) == 0 ? ~0u : 1 + random(8);
    for (bool moved = true; moved && steps > 0; --steps) {
      moved = false;
      const unsigned first = random(kWarpLanes);
      for (unsigned i = 0; i < kWarpLanes && fault_.empty(); ++i)
        moved |= run_thread(warp * kWarpLanes + (first + i) % kWarpLanes);
      ran |= moved;
    }
  }
  return ran;
}

bool Block::run_thread(unsigned index) {
  Thread& thread = threads_[index];
  if (thread.fiber.is_done() || thread.state != State::ready) return false;
  running_ = index;
  thread.fiber.resume();
  if (thread.fiber.is_done()) --alive_;
  return true;
}

bool Block::open_barrier() {
  const auto waits = [](const Thread& thread) { return thread.state == State::at_barrier; };
  if (alive_ == 0 || std::ranges::count_if(threads_, waits) != alive_) return false;
  for (Thread& thread : threads_) thread.state = State::ready;
  return true;
}

unsigned Block::random(unsigned below) {
  random_state_ = random_state_ * 1664525u + 1013904223u;
  return (random_state_ >> 8) % below;
}

void Block::synchronize() {
  Thread& thread = threads_[running_];
  __tsan_release(this);
  thread.state = State::at_barrier;
  thread.fiber.suspend();
  __tsan_acquire(this);
}

void Block::run_in_warp(WarpOperation operation, unsigned argument, Registers& registers) {
  Thread& thread = threads_[running_];
  const unsigned lane = running_ % kWarpLanes;
  Warp& warp = warps_[running_ / kWarpLanes];
  if (warp.arrived > 0 && (warp.operation != operation || warp.argument != argument))
    fail("lanes of a warp execute different operations");
  warp.operation = operation;
  warp.argument = argument;
  warp.lanes[lane] = registers;
  __tsan_release(&warp);
  if (++warp.arrived < kWarpLanes) {
    thread.state = State::in_warp_operation;
    thread.fiber.suspend();
    __tsan_acquire(&warp);
  } else {
    // The last one carries it out for all.
    __tsan_acquire(&warp);
    operation(warp.lanes, argument, launch_.cores);
    __tsan_release(&warp);
    warp.arrived = 0;
    const unsigned first = running_ - lane;
    for (unsigned i = 0; i < kWarpLanes; ++i) threads_[first + i].state = State::ready;
  }
  registers = warp.lanes[lane];
}

void Block::copy_later(void* to, const void* from, size_t bytes) {
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % bytes != 0)
    fail("an asynchronous copy is not aligned to its size");
  std::memset(to, static_cast<int>(kUnwritten), bytes);
  Thread& thread = threads_[running_];
  thread.copies.push_back({to, from, bytes, thread.open_group});
}

void Block::wait_for_copies(unsigned pending) {
  Thread& thread = threads_[running_];
  const auto waits = [&](const Copy& copy) { return copy.group + pending < thread.open_group; };
  for (const Copy& copy : thread.copies)
    if (waits(copy)) std::memcpy(copy.to, copy.from, copy.bytes);
  std::erase_if(thread.copies, waits);
}

void Block::fail(const std::string& what) {
  fault_ = what;
  // run() does not resume it.
  threads_[running_].fiber.suspend();
}

}  // namespace heed::gpu_simulator
