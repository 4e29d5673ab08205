#include "cli/terminal/signals.h"

#include <atomic>
#include <csignal>

namespace heed::cli {
namespace {

std::atomic<int> received{0};                          // the first signal
static_assert(std::atomic<int>::is_always_lock_free);  // required in a signal handler
struct sigaction previous_interrupt, previous_terminate, previous_user, previous_hangup;
std::atomic<bool> reload_requested{false};

void request_stop(int signal) {
  if (received.exchange(signal) == 0) return;
  // The default action follows as soon as the handler returns.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Handles SIGUSR1, which launchers may pass on more than once.
void ask_to_stop(int signal) {
  int none = 0;
  received.compare_exchange_strong(none, signal);
}

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return action;
}

}  // namespace

StopRequest::StopRequest() {
  received = 0;
  const struct sigaction action = action_of(request_stop);
  sigaction(SIGINT, &action, &previous_interrupt);
  sigaction(SIGTERM, &action, &previous_terminate);
  const struct sigaction ask = action_of(ask_to_stop);
  sigaction(SIGUSR1, &ask, &previous_user);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
  sigaction(SIGUSR1, &previous_user, nullptr);
}

bool StopRequest::requested() const { return received != 0; }

bool StopRequest::terminated() const { return received == SIGTERM; }

ReloadRequest::ReloadRequest() {
  reload_requested = false;
  const struct sigaction action = action_of([](int) { reload_requested = true; });
  sigaction(SIGHUP, &action, &previous_hangup);
}

ReloadRequest::~ReloadRequest() { sigaction(SIGHUP, &previous_hangup, nullptr); }

bool ReloadRequest::take() const { return reload_requested.exchange(false); }

}  // namespace heed::cli
