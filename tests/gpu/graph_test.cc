// Work that is recorded and started again, and its time.
#include "heed/gpu/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "heed/gpu/timer.h"
#include "tests/gpu/gpu_testing.h"
#include "tests/gpu/test_kernels.h"

namespace heed::gpu {
namespace {

constexpr int kWidth = 100;
constexpr size_t kBytes = kWidth * sizeof(float);

void start_softmax(Gpu& device, const std::byte* x, std::byte* y) {
  device.launch(
      "softmax_rows", {.threads = 64, .shared_bytes = 2 * sizeof(float)},
      SoftmaxArguments{reinterpret_cast<const float*>(x), reinterpret_cast<float*>(y), kWidth});
}

std::vector<float> values_at(Gpu& device, const std::byte* memory) {
  std::vector<float> values(kWidth);
  device.copy_to_host(std::as_writable_bytes(std::span(values)), memory);
  return values;
}

/// What the kernel makes of some values, without a graph.
std::vector<float> softmax_of(Gpu& device, const std::vector<float>& x) {
  DeviceArray input(device, x), output(device, std::vector<float>(kWidth));
  start_softmax(device, reinterpret_cast<std::byte*>(input.data()),
                reinterpret_cast<std::byte*>(output.data()));
  return output.values();
}

void write(const std::shared_ptr<std::byte>& pinned, const std::vector<float>& values) {
  std::memcpy(pinned.get(), values.data(), kBytes);
}

/// Two kernels after each other on what is in pinned memory, then a fill and a copy.
std::shared_ptr<std::byte> softmax_twice(Gpu& device, const std::shared_ptr<std::byte>& pinned) {
  const std::shared_ptr<std::byte> x = device.allocate(kBytes), once = device.allocate(kBytes);
  std::shared_ptr<std::byte> result = device.allocate(kBytes + 16);
  device.copy_to_device(x.get(), {pinned.get(), kBytes});
  start_softmax(device, x.get(), once.get());
  start_softmax(device, once.get(), x.get());
  device.fill(result.get(), 0, kBytes + 16);
  device.copy(result.get(), x.get(), kBytes);
  return result;
}

TEST(Graph, RepeatsWorkOnWhatPinnedMemoryHolds) {
  Gpu device = simulated();
  const std::vector<float> first = random_values(kWidth, 1), second = random_values(kWidth, 2);
  const std::vector<float> expected_first = softmax_of(device, softmax_of(device, first));
  const std::vector<float> expected_second = softmax_of(device, softmax_of(device, second));

  const std::shared_ptr<std::byte> pinned = device.allocate_pinned(kBytes);
  std::shared_ptr<std::byte> result;
  Graph graph(device, [&] { result = softmax_twice(device, pinned); });
  write(pinned, first);
  graph.launch();
  EXPECT_EQ(values_at(device, result.get()), expected_first);
  write(pinned, second);
  graph.launch();
  EXPECT_EQ(values_at(device, result.get()), expected_second);
}

TEST(Graph, DoesNothingWhileItIsRecorded) {
  Gpu device = simulated();
  DeviceArray before(device, std::vector<float>(kWidth, 3.0f));
  Graph graph(device, [&] { device.fill(before.bytes(), 0, kBytes); });
  EXPECT_EQ(before.values(), std::vector<float>(kWidth, 3.0f));
  graph.launch();
  EXPECT_EQ(before.values(), std::vector<float>(kWidth, 0.0f));
}

TEST(Graph, KeepsItsMemoryAndGivesItBackWithItsLastResult) {
  Gpu device = simulated();
  const std::shared_ptr<std::byte> pinned = device.allocate_pinned(kBytes);
  write(pinned, random_values(kWidth, 1));
  std::shared_ptr<std::byte> result;
  {
    Graph graph(device, [&] { result = softmax_twice(device, pinned); });
    EXPECT_GE(graph.memory_bytes(), 3 * kBytes);
    EXPECT_EQ(device.allocated_bytes(), graph.memory_bytes());
    // What was freed while it was recorded serves nobody else.
    const std::shared_ptr<std::byte> other = device.allocate(kBytes);
    device.fill(other.get(), 1, kBytes);
    const std::vector<float> filled = values_at(device, other.get());
    graph.launch();
    EXPECT_EQ(values_at(device, other.get()), filled);
  }
  const std::vector<float> values = values_at(device, result.get());
  EXPECT_GT(*std::ranges::min_element(values), 0.0f);
  EXPECT_GT(device.allocated_bytes(), 0u);
  result.reset();
  EXPECT_EQ(device.allocated_bytes(), 0u);
}

TEST(Graph, UsesFreedMemoryAgainWhileItIsRecorded) {
  Gpu device = simulated();
  std::byte *first = nullptr, *second = nullptr;
  const Graph graph(device, [&] {
    first = device.allocate(kBytes).get();
    second = device.allocate(kBytes).get();
  });
  EXPECT_EQ(first, second);
}

TEST(Graph, RefusesWhatCannotBeRecorded) {
  Gpu device = simulated();
  DeviceArray array(device, std::vector<float>(kWidth));
  const auto recorded = [&](const std::function<void()>& work) {
    return error_of([&] { const Graph graph(device, work); });
  };
  EXPECT_EQ(recorded([&] { device.synchronize(); }),
            "waiting while a graph of GPU 0 (simulated GPU) is recorded");
  EXPECT_EQ(recorded([&] { array.values(); }),
            "a copy to the host while a graph of GPU 0 (simulated GPU) is recorded");
  EXPECT_EQ(recorded([&] { DeviceArray(device, std::vector<float>(kWidth)); }),
            "a recorded copy to GPU 0 (simulated GPU) reads memory of the host that is not pinned");
  EXPECT_EQ(recorded([&] { const Graph inner(device, [] {}); }),
            "a graph is recorded while another one is");
  EXPECT_EQ(recorded([&] { Timer(device).start(); }),
            "timing while a graph of GPU 0 (simulated GPU) is recorded");
  EXPECT_EQ(recorded([] { fail("what the work says"); }), "what the work says");
  // The GPU is as before.
  EXPECT_EQ(array.values(), std::vector<float>(kWidth));
  EXPECT_EQ(recorded([] {}), "no error");
}

TEST(Graph, NamesACallThatTheDriverRefuses) {
  for (const char* call : {"cuStreamBeginCapture", "cuStreamEndCapture",
                           "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
    const std::string error = error_of([&] {
      Gpu device = simulated(fmt::format("fail={}:999", call));
      const std::shared_ptr<std::byte> pinned = device.allocate_pinned(kBytes);
      Graph(device, [&] { softmax_twice(device, pinned); }).launch();
    });
    EXPECT_NE(error.find("error of the simulated GPU (CUDA_ERROR_UNKNOWN)"), error.npos)
        << call << ": " << error;
  }
}

TEST(Graph, NeedsPinnedMemory) {
  // The first is for copies of the GPU's own.
  Gpu device = simulated("fail=cuMemHostAlloc:2:2");
  EXPECT_EQ(error_of([&] { device.allocate_pinned(kBytes); }),
            "GPU 0 (simulated GPU): 400 bytes of pinned memory could not be allocated");
}

TEST(Graph, IsOfOneThreadAlone) {
  Gpu device = simulated();
  DeviceArray array(device, std::vector<float>(kWidth, 2.0f));
  std::vector<float> seen;
  const Graph graph(device, [&] {
    device.fill(array.bytes(), 0, kBytes);
    std::thread([&] { seen = array.values(); }).join();
  });
  EXPECT_EQ(seen, std::vector<float>(kWidth, 2.0f));
}

TEST(Timer, MeasuresTheWorkBetweenTwoPoints) {
  Gpu device = simulated();
  softmax_of(device, random_values(kWidth, 1));
  Timer timer(device);
  timer.start();
  timer.stop();
  EXPECT_GE(timer.seconds(), 0.0);
  const double nothing = timer.seconds();
  timer.start();
  for (int i = 0; i < 20; ++i) softmax_of(device, random_values(kWidth, 1));
  timer.stop();
  EXPECT_GT(timer.seconds(), nothing);
}

}  // namespace
}  // namespace heed::gpu
