#include "heed/gpu/timer.h"

namespace heed::gpu {

Timer::Timer(Gpu& gpu) : gpu_(gpu) {
  gpu_.make_current();
  gpu_.check(gpu_.driver_.cuEventCreate(&start_, 0), "making a timer");
  const Driver::Result made = gpu_.driver_.cuEventCreate(&stop_, 0);
  if (made != 0) gpu_.driver_.cuEventDestroy(start_);
  gpu_.check(made, "making a timer");
}

Timer::~Timer() {
  if (gpu_.process_.is_forked()) return;
  gpu_.driver_.cuCtxSetCurrent(gpu_.context_);
  gpu_.driver_.cuEventDestroy(start_);
  gpu_.driver_.cuEventDestroy(stop_);
}

void Timer::start() { record(start_); }
void Timer::stop() { record(stop_); }

void Timer::record(Driver::Handle event) {
  gpu_.stop_recording();
  gpu_.make_current();
  gpu_.check(gpu_.driver_.cuEventRecord(event, gpu_.stream_), "timing");
}

double Timer::seconds() {
  gpu_.make_current();
  gpu_.check(gpu_.driver_.cuEventSynchronize(stop_), "waiting for it");
  float milliseconds = 0;
  gpu_.check(gpu_.driver_.cuEventElapsedTime(&milliseconds, start_, stop_), "timing");
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace heed::gpu
