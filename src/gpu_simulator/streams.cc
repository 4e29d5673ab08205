// The functions of the driver for streams, events and graphs (driver.cc has the others).
#include <chrono>

#include "gpu_simulator/simulated_driver.h"
#include "heed/export.h"

namespace heed::gpu_simulator {
namespace {

struct Event {
  std::chrono::steady_clock::time_point time;
};

struct Graph {
  std::vector<std::function<void()>> work;
};

constexpr int kRelaxedCapture = 2, kNotSupported = 801;

}  // namespace
}  // namespace heed::gpu_simulator

using namespace heed::gpu_simulator;

extern "C" {

HEED_EXPORT int cuStreamCreate(Stream** stream, unsigned) {
  return carry_out("cuStreamCreate", [&] {
    *stream = new Stream;
    return 0;
  });
}

HEED_EXPORT int cuStreamDestroy_v2(Stream* stream) {
  delete stream;
  return 0;
}

HEED_EXPORT int cuStreamSynchronize(Stream* stream) {
  return carry_out("cuStreamSynchronize", [&] { return stream->records ? stream->refuse() : 0; });
}

HEED_EXPORT int cuStreamBeginCapture_v2(Stream* stream, int mode) {
  return carry_out("cuStreamBeginCapture", [&] {
    if (stream->records) return stream->refuse();
    if (mode != kRelaxedCapture) return kNotSupported;
    stream->records = true;
    return 0;
  });
}

HEED_EXPORT int cuStreamEndCapture(Stream* stream, Graph** graph) {
  return carry_out("cuStreamEndCapture", [&] {
    if (!stream->records) return kInvalidValue;
    stream->records = false;
    *graph = nullptr;
    if (!stream->is_valid) return kCaptureInvalidated;
    *graph = new Graph{std::move(stream->recorded)};
    return 0;
  });
}

HEED_EXPORT int cuGraphInstantiateWithFlags(Graph** executable, const Graph* graph,
                                            unsigned long long) {
  return carry_out("cuGraphInstantiateWithFlags", [&] {
    *executable = new Graph(*graph);
    return 0;
  });
}

HEED_EXPORT int cuGraphLaunch(const Graph* executable, Stream* stream) {
  return carry_out("cuGraphLaunch", [&] {
    if (stream->records) return stream->refuse();
    for (const auto& work : executable->work)
      if (simulated().fault().empty()) work();
    return 0;
  });
}

HEED_EXPORT int cuGraphDestroy(Graph* graph) {
  delete graph;
  return 0;
}

HEED_EXPORT int cuGraphExecDestroy(Graph* executable) {
  delete executable;
  return 0;
}

HEED_EXPORT int cuEventCreate(Event** event, unsigned) {
  return carry_out("cuEventCreate", [&] {
    *event = new Event;
    return 0;
  });
}

HEED_EXPORT int cuEventDestroy_v2(Event* event) {
  delete event;
  return 0;
}

HEED_EXPORT int cuEventRecord(Event* event, Stream* stream) {
  return carry_out("cuEventRecord", [&] {
    if (stream->records) return stream->refuse();
    event->time = std::chrono::steady_clock::now();
    return 0;
  });
}

HEED_EXPORT int cuEventSynchronize(Event*) {
  return carry_out("cuEventSynchronize", [] { return 0; });
}

HEED_EXPORT int cuEventElapsedTime(float* milliseconds, const Event* start, const Event* stop) {
  return carry_out("cuEventElapsedTime", [&] {
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return 0;
  });
}

}  // extern "C"
