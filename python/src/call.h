#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/executor.h"
#include "heed/interrupt.h"

namespace heed::python {

namespace nb = nanobind;

/// What ends a call early: an exception of a signal handler (KeyboardInterrupt), of a callback, or
/// a Cancellation. One for each call, on its thread.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The call that the thread is in; null outside of calls.
  static Interruption* current();

  /// Asked by InterruptScope, without the GIL.
  bool asked();
  /// Ends the call with this exception, unless another one has ended it.
  void hold(nb::python_error error);
  /// Throws what has ended the call, with the GIL, if anything has.
  void rethrow();
  /// The same, and what a signal handler raises now: after a call, a session keeps what it has
  /// computed, but what is on its way to the caller would be lost.
  void check_signals();

 private:
  Interruption* const before_;
  std::optional<nb::python_error> error_;
};

/// Ends the calls that a thread makes while it is in use (asyncio's tasks).
class Cancellation {
 public:
  void cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }
  /// Calls `function` so that cancel() ends what it computes with an Error.
  nb::object run(const nb::typed<nb::callable, nb::object()>& function);

 private:
  std::atomic<bool> cancelled_{false};
};

/// Runs `work`, which does not use Python, with the GIL released. Ctrl-C ends it.
template <typename Work>
auto run(const Work& work) -> decltype(work()) {
  Interruption interruption;
  const auto released = [&] {
    const nb::gil_scoped_release release;
    const InterruptScope scope([&] { return interruption.asked(); });
    return work();
  };
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      released();
      interruption.check_signals();
    } else {
      auto result = released();
      interruption.check_signals();
      return result;
    }
  } catch (...) {
    interruption.rethrow();
    throw;
  }
}

/// Lets other Python threads run, in a loop that holds the GIL for long.
class Turns {
 public:
  void next() {
    if (++count_ % kItems != 0 || Clock::now() - begin_ < kTurn) return;
    { const nb::gil_scoped_release release; }
    begin_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Longer than sys.getswitchinterval(), 5 ms, after which a thread that waits asks for the GIL:
  // only then does a release last until that thread has it. After shorter turns it would wake up
  // too late each time, and begin to wait anew.
  static constexpr std::chrono::milliseconds kTurn{6};
  static constexpr int kItems = 64;  // between two looks at the clock
  int count_ = 0;
  Clock::time_point begin_ = Clock::now();
};

/// Arguments of a call, which may be large. They are freed while other Python threads run.
template <typename Value>
class Arguments {
 public:
  explicit Arguments(Value value) : value_(std::move(value)) {}
  ~Arguments() {
    const nb::gil_scoped_release release;
    value_.reset();
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  const Value& operator*() const { return *value_; }
  const Value* operator->() const { return &*value_; }

 private:
  std::optional<Value> value_;
};

/// An object for functions that are copied and destroyed without the GIL.
std::shared_ptr<const nb::object> held_without_gil(nb::object object);

/// The elements as a Python list.
template <typename Item>
nb::typed<nb::list, Item> list_of(std::vector<Item> items) {
  nb::list list;
  Turns turns;
  for (Item& item : items) {
    list.append(nb::cast(std::move(item)));
    turns.next();
  }
  return nb::typed<nb::list, Item>(std::move(list));
}

/// An Executor whose threads are started again in a forked child.
std::shared_ptr<Executor> make_executor(int threads);

void bind_call(nb::module_& m);

}  // namespace heed::python
