#include "call.h"

#include <mutex>
#include <string>
#include <vector>

#include "heed/error.h"
#include "heed/fork.h"

namespace heed::python {
namespace {

constinit thread_local Interruption* current_interruption = nullptr;
constinit thread_local const Cancellation* current_cancellation = nullptr;

/// The thread on which Python runs signal handlers. Others need not take the GIL to ask.
std::atomic<unsigned long> main_thread = 0;

/// Executors of models, besides Executor::shared(). Used with the GIL.
std::vector<std::weak_ptr<Executor>>& own_executors() {
  static std::vector<std::weak_ptr<Executor>> executors;
  return executors;
}

void after_fork(unsigned long thread) {
  main_thread = thread;
  restart_after_fork(*Executor::shared());
  for (const std::weak_ptr<Executor>& one : own_executors())
    if (const auto executor = one.lock()) restart_after_fork(*executor);
}

}  // namespace

Interruption::Interruption() : before_(std::exchange(current_interruption, this)) {}
Interruption::~Interruption() { current_interruption = before_; }

Interruption* Interruption::current() { return current_interruption; }

bool Interruption::asked() {
  if (current_cancellation != nullptr && current_cancellation->cancelled()) return true;
  if (PyThread_get_thread_ident() != main_thread) return error_.has_value();
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) hold(nb::python_error());
  return error_.has_value();
}

void Interruption::hold(nb::python_error error) {
  if (!error_) error_.emplace(std::move(error));
}

void Interruption::rethrow() {
  if (error_) {
    nb::python_error error = std::move(*error_);
    error_.reset();
    throw error;
  }
}

void Interruption::check_signals() {
  if (PyErr_CheckSignals() != 0) hold(nb::python_error());
  rethrow();
}

nb::object Cancellation::run(const nb::typed<nb::callable, nb::object()>& function) {
  struct Use {
    explicit Use(const Cancellation* now) : before(std::exchange(current_cancellation, now)) {}
    ~Use() { current_cancellation = before; }
    const Cancellation* const before;
  };
  const Use use(this);
  return function();
}

std::shared_ptr<const nb::object> held_without_gil(nb::object object) {
  return {new nb::object(std::move(object)), [](const nb::object* value) {
            const nb::gil_scoped_acquire acquire;
            delete value;
          }};
}

std::shared_ptr<Executor> make_executor(int threads) {
  auto executor = std::make_shared<Executor>(threads);
  std::erase_if(own_executors(), [](const auto& one) { return one.expired(); });
  own_executors().push_back(executor);
  return executor;
}

void bind_call(nb::module_& m) {
  nb::exception<Error>(m, "Error", PyExc_RuntimeError).attr("__doc__") =
      "What heed raises when something is wrong. Its text is one line: what is wrong, where, what "
      "was "
      "expected and what was found.";
  // Of a Cancellation, or in a callback of a call that Ctrl-C ends: nobody waits for the result.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupted& interrupted) {
      PyErr_SetString(PyExc_KeyboardInterrupt, interrupted.what());
    }
  });
  nb::class_<Cancellation>(m, "Cancellation")
      .def(nb::init<>())
      .def("cancel", &Cancellation::cancel)
      .def("run", &Cancellation::run, nb::arg("function"));
  m.def(
      "set_main_thread", [](unsigned long thread) { main_thread = thread; }, nb::arg("thread"));
  m.def("after_fork", &after_fork, nb::arg("thread"));
}

}  // namespace heed::python
