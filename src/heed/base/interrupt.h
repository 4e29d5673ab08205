#pragma once

#include "heed/interrupt.h"

namespace heed {

/// Throws Interrupted if an InterruptScope says so: one of the calling thread, or of the thread
/// that it works for (InheritedInterrupts). Asks at most once every interval of the scope, so that
/// it may be called often.
void check_interrupted();

/// Asks as check_interrupted() does, but only so that other threads which work for this one see the
/// answer: for a thread that waits for them.
void ask_interrupted();

/// The scopes of the calling thread; null without any.
InterruptState* current_interrupts();

/// While one exists, its thread is interrupted by the scopes of another thread, which waits for it.
class InheritedInterrupts {
 public:
  explicit InheritedInterrupts(InterruptState* of_other_thread);
  ~InheritedInterrupts();
  InheritedInterrupts(const InheritedInterrupts&) = delete;
  InheritedInterrupts& operator=(const InheritedInterrupts&) = delete;

 private:
  InterruptState* const before_;
};

}  // namespace heed
