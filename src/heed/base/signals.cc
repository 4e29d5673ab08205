#include "heed/base/signals.h"

#include <csignal>

namespace heed {
namespace {

volatile std::sig_atomic_t stop_requested = 0;
struct sigaction previous_interrupt, previous_terminate;

void request_stop(int) { stop_requested = 1; }

}  // namespace

StopRequest::StopRequest() {
  stop_requested = 0;
  struct sigaction action {};
  action.sa_handler = request_stop;
  // The handler serves once: the next signal acts as if there were none. System calls go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt);
  sigaction(SIGTERM, &action, &previous_terminate);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
}

bool StopRequest::requested() const { return stop_requested != 0; }

}  // namespace heed
