#include "gpu_simulator/fiber.h"

#include <array>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(HEED_TSAN_FIBERS)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

// Saves the registers that a function must keep on the stack, stores the stack pointer in *from and
// goes on where the stack `to` was left.
extern "C" void heed_switch_stack(void** from, void* to);

#if defined(__x86_64__)
asm(R"(.text
.type heed_switch_stack,@function
heed_switch_stack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");
// The registers, the address to return to, and eight bytes: where a function begins, the stack is
// eight bytes off a multiple of 16.
constexpr size_t kFrameWords = 8, kReturnWord = 6;
#elif defined(__aarch64__)
asm(R"(.text
.type heed_switch_stack,%function
heed_switch_stack:
  sub sp,sp,#160
  stp x19,x20,[sp,#0]
  stp x21,x22,[sp,#16]
  stp x23,x24,[sp,#32]
  stp x25,x26,[sp,#48]
  stp x27,x28,[sp,#64]
  stp x29,x30,[sp,#80]
  stp d8,d9,[sp,#96]
  stp d10,d11,[sp,#112]
  stp d12,d13,[sp,#128]
  stp d14,d15,[sp,#144]
  mov x9,sp
  str x9,[x0]
  mov sp,x1
  ldp x19,x20,[sp,#0]
  ldp x21,x22,[sp,#16]
  ldp x23,x24,[sp,#32]
  ldp x25,x26,[sp,#48]
  ldp x27,x28,[sp,#64]
  ldp x29,x30,[sp,#80]
  ldp d8,d9,[sp,#96]
  ldp d10,d11,[sp,#112]
  ldp d12,d13,[sp,#128]
  ldp d14,d15,[sp,#144]
  add sp,sp,#160
  ret
)");
constexpr size_t kFrameWords = 20, kReturnWord = 11;
#else
#error "the simulated GPU switches stacks on x86-64 and aarch64 alone"
#endif

namespace heed::gpu_simulator {
namespace {

thread_local Fiber* starting = nullptr;

}  // namespace

Fiber::~Fiber() { drop(); }

void Fiber::drop() {
#if defined(HEED_TSAN_FIBERS)
  if (tsan_fiber_ != nullptr) __tsan_destroy_fiber(tsan_fiber_);
  tsan_fiber_ = nullptr;
#endif
}

void Fiber::start(std::span<std::byte> stack, Entry entry, void* argument) {
  drop();
  stack_ = stack;
  entry_ = entry;
  argument_ = argument;
  done_ = false;
  const auto top = reinterpret_cast<uintptr_t>(stack.data() + stack.size()) / 16 * 16;
  void** const frame = reinterpret_cast<void**>(top) - kFrameWords;
  for (size_t i = 0; i < kFrameWords; ++i) frame[i] = nullptr;
  frame[kReturnWord] = reinterpret_cast<void*>(&Fiber::run);
  stack_pointer_ = frame;
#if defined(HEED_TSAN_FIBERS)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

void Fiber::resume() {
  starting = this;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_.data(), stack_.size());
#elif defined(HEED_TSAN_FIBERS)
  tsan_resumer_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, 1);
#endif
  heed_switch_stack(&resumer_, stack_pointer_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(done_ ? nullptr : &fake_stack, resumer_stack_,
                                 resumer_stack_bytes_);
#elif defined(HEED_TSAN_FIBERS)
  __tsan_switch_to_fiber(tsan_resumer_, 1);
#endif
  heed_switch_stack(&stack_pointer_, resumer_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, &resumer_stack_, &resumer_stack_bytes_);
#endif
}

void Fiber::run() {
  Fiber& fiber = *starting;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &fiber.resumer_stack_, &fiber.resumer_stack_bytes_);
#endif
  fiber.entry_(fiber.argument_);
  fiber.done_ = true;
  fiber.suspend();
}

}  // namespace heed::gpu_simulator
