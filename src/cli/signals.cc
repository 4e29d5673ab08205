#include "cli/signals.h"

#include <atomic>
#include <csignal>

namespace heed::cli {
namespace {

std::atomic<int> received{0};  // the first signal
static_assert(std::atomic<int>::is_always_lock_free);  // required in a signal handler
struct sigaction previous_interrupt, previous_terminate;

void request_stop(int signal) {
  if (received.exchange(signal) == 0) return;
  // The default action follows as soon as the handler returns.
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

StopRequest::StopRequest() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt);
  sigaction(SIGTERM, &action, &previous_terminate);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
}

bool StopRequest::requested() const { return received != 0; }

bool StopRequest::terminated() const { return received == SIGTERM; }

}  // namespace heed::cli
