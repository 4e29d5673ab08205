#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>

#include "heed/export.h"

namespace heed {

class InterruptState;

/// Thrown by a call that an InterruptScope has interrupted. It is no Error: nothing is wrong with
/// the call, which can be repeated. A model is unchanged, and the requests of a session stay as
/// they were before the step.
class HEED_EXPORT Interrupted : public std::exception {
 public:
  /// "the call was interrupted".
  const char* what() const noexcept override;
};

/// While one exists, calls of its thread can be interrupted:
///
///   const heed::InterruptScope scope([&] { return key_was_pressed(); });
///   model.generate(prompt);  // throws Interrupted soon after the key was pressed
///
/// `interrupted` is asked before each layer of a pass, before each part of a batch, between the
/// matrices of a model that is loaded, and about ten times a second during a download, but at most
/// once every `interval`. When it has returned true, it is not asked again, and every call throws
/// Interrupted until the scope ends.
///
/// A call may compute on several threads. `interrupted` is asked on the thread of the scope alone.
/// Scopes of a thread are destroyed in reverse order; each of them interrupts.
class HEED_EXPORT InterruptScope {
 public:
  /// `interrupted` must not throw. It is asked until the scope ends.
  explicit InterruptScope(std::function<bool()> interrupted,
                          std::chrono::milliseconds interval = std::chrono::milliseconds(50));
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether `interrupted` has returned true.
  bool interrupted() const;

 private:
  const std::unique_ptr<InterruptState> state_;
  InterruptState* const before_;
};

}  // namespace heed
