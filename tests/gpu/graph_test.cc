// Work that is started as graphs, and its time.
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

/// Two kernels after each other on values of the host.
std::shared_ptr<std::byte> softmax_twice(Gpu& device, const std::vector<float>& values) {
  const std::shared_ptr<std::byte> x = device.allocate(kBytes), once = device.allocate(kBytes);
  std::shared_ptr<std::byte> result = device.allocate(kBytes);
  device.copy_to_device(x.get(), std::as_bytes(std::span(values)));
  start_softmax(device, x.get(), once.get());
  start_softmax(device, once.get(), result.get());
  return result;
}

/// The results of runs with other values, each of two kernels.
void expect_right_runs(Gpu& device, GraphRunner& graphs, int64_t key, int runs) {
  for (int i = 0; i < runs; ++i) {
    const std::vector<float> x = random_values(kWidth, static_cast<uint64_t>(i));
    std::shared_ptr<std::byte> result;
    graphs.run(key, [&] { result = softmax_twice(device, x); });
    EXPECT_EQ(values_at(device, result.get()), softmax_of(device, softmax_of(device, x))) << i;
  }
}

TEST(GraphRunner, StartsEachRunAfterTheFirstAsOneGraph) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  expect_right_runs(device, graphs, 1, 5);
  EXPECT_EQ(graphs.graph_launches(), 4);
  EXPECT_EQ(graphs.changed_nodes(), 0);  // memory and its contents are in the same places
}

TEST(GraphRunner, CopiesWithinTheGpuArePartOfAGraph) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  for (int i = 0; i < 4; ++i) {
    const std::vector<float> x = random_values(kWidth, static_cast<uint64_t>(i));
    DeviceArray from(device, x), to(device, std::vector<float>(kWidth));
    graphs.run(1, [&] {
      const std::shared_ptr<std::byte> between = device.allocate(kBytes);
      device.copy(between.get(), from.bytes(), kBytes);
      device.copy(to.bytes(), between.get(), kBytes);
    });
    EXPECT_EQ(to.values(), x);
  }
  EXPECT_EQ(graphs.graph_launches(), 3);
}

TEST(GraphRunner, ChangesTheNodesWhoseArgumentsDiffer) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  DeviceArray first(device, random_values(kWidth, 1)), second(device, random_values(kWidth, 2));
  DeviceArray result(device, std::vector<float>(kWidth));
  const auto run = [&](const std::byte* x) {
    graphs.run(1, [&] {
      start_softmax(device, x, result.bytes());
      start_softmax(device, first.bytes(), device.allocate(kBytes).get());
    });
    return result.values();
  };
  const std::vector<float> of_first = softmax_of(device, random_values(kWidth, 1));
  const std::vector<float> of_second = softmax_of(device, random_values(kWidth, 2));
  EXPECT_EQ(run(first.bytes()), of_first);
  EXPECT_EQ(run(first.bytes()), of_first);
  EXPECT_EQ(run(second.bytes()), of_second);
  EXPECT_EQ(run(second.bytes()), of_second);
  EXPECT_EQ(graphs.changed_nodes(), 1);
}

TEST(GraphRunner, MakesAnotherGraphForOtherKernels) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  for (const int count : {1, 1, 3, 3, 2, 0, 1}) {
    DeviceArray x(device, random_values(kWidth, 3));
    std::vector<float> expected = random_values(kWidth, 3);
    graphs.run(1, [&] {
      for (int i = 0; i < count; ++i) start_softmax(device, x.bytes(), x.bytes());
    });
    for (int i = 0; i < count; ++i) expected = softmax_of(device, expected);
    EXPECT_EQ(x.values(), expected) << count;
  }
  EXPECT_EQ(graphs.graph_launches(), 6);
}

/// A wait, a copy to the host, a fill and an upload that is too large are no part of a graph.
TEST(GraphRunner, DoesWithoutAGraphWhatCannotBePartOfOne) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  const std::vector<float> large(size_t{1} << 19, 3.0f), x = random_values(kWidth, 1);
  DeviceArray all(device, std::vector<float>(large.size())), other(device, x);
  const std::vector<std::function<void()>> kinds{
      [&] { device.synchronize(); }, [&] { values_at(device, other.bytes()); },
      [&] { device.fill(all.bytes(), 0, kBytes); },
      [&] { device.copy_to_device(all.bytes(), std::as_bytes(std::span(large))); }};
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    for (int i = 0; i < 5; ++i) {
      std::shared_ptr<std::byte> result;
      graphs.run(static_cast<int64_t>(kind), [&] {
        const std::shared_ptr<std::byte> once = softmax_twice(device, x);
        kinds[kind]();
        result = device.allocate(kBytes);
        start_softmax(device, once.get(), result.get());
      });
      EXPECT_EQ(values_at(device, result.get()),
                softmax_of(device, softmax_of(device, softmax_of(device, x))))
          << kind;
    }
  EXPECT_EQ(graphs.graph_launches(), 0);
}

TEST(GraphRunner, KeepsGraphsForTheLastKeys) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  for (const int64_t key : {1, 2, 3}) expect_right_runs(device, graphs, key, 2);
  EXPECT_EQ(graphs.graph_launches(), 3);
  for (int64_t key = 100; key < 140; ++key) expect_right_runs(device, graphs, key, 1);
  EXPECT_EQ(graphs.graph_launches(), 3);
  expect_right_runs(device, graphs, 1, 2);  // forgotten: its first run has no graph again
  EXPECT_EQ(graphs.graph_launches(), 4);
}

TEST(GraphRunner, AnErrorOfTheWorkLeavesWhatWasStarted) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  expect_right_runs(device, graphs, 1, 2);
  DeviceArray x(device, random_values(kWidth, 3));
  EXPECT_EQ(error_of([&] {
              graphs.run(1, [&] {
                start_softmax(device, x.bytes(), x.bytes());
                fail("what the work says");
              });
            }),
            "what the work says");
  EXPECT_EQ(x.values(), softmax_of(device, random_values(kWidth, 3)));
  expect_right_runs(device, graphs, 1, 2);
}

TEST(GraphRunner, ItsMemoryLivesAsLongAsAResult) {
  Gpu device = simulated();
  std::shared_ptr<std::byte> result;
  std::vector<float> expected;
  {
    GraphRunner graphs(device);
    for (int i = 0; i < 3; ++i)
      graphs.run(1, [&] { result = softmax_twice(device, random_values(kWidth, 1)); });
    expected = values_at(device, result.get());
  }
  EXPECT_EQ(values_at(device, result.get()), expected);
  EXPECT_GT(device.allocated_bytes(), 0u);
  result.reset();
  EXPECT_EQ(device.allocated_bytes(), 0u);
}

TEST(GraphRunner, CollectsTheWorkOfItsThreadAlone) {
  Gpu device = simulated();
  GraphRunner graphs(device);
  DeviceArray array(device, random_values(kWidth, 3));
  const std::vector<float> before = array.values();
  std::vector<float> seen;
  for (int i = 0; i < 2; ++i) {
    graphs.run(1, [&] {
      start_softmax(device, array.bytes(), array.bytes());
      std::thread([&] { seen = array.values(); }).join();
    });
    EXPECT_EQ(seen, i == 0 ? softmax_of(device, before) : seen);
  }
  EXPECT_EQ(seen, softmax_of(device, before));  // the second softmax had not been started
  EXPECT_EQ(graphs.graph_launches(), 1);
}

TEST(GraphRunner, NamesACallThatTheDriverRefuses) {
  for (const char* call :
       {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode",
        "cuGraphInstantiateWithFlags", "cuGraphExecMemcpyNodeSetParams", "cuGraphLaunch"}) {
    const std::string error = error_of([&] {
      Gpu device = simulated(fmt::format("fail={}:999", call));
      GraphRunner graphs(device);
      for (const size_t size : {10, 10, 20})
        graphs.run(1, [&] {
          const std::vector<float> values = random_values(size, 1);
          const std::shared_ptr<std::byte> x = device.allocate(kBytes);
          device.copy_to_device(x.get(), std::as_bytes(std::span(values)));
          start_softmax(device, x.get(), x.get());
        });
    });
    EXPECT_NE(error.find("error of the simulated GPU (CUDA_ERROR_UNKNOWN)"), error.npos)
        << call << ": " << error;
  }
}

TEST(GraphRunner, NeedsPinnedMemory) {
  // The first is for copies of the GPU's own.
  Gpu device = simulated("fail=cuMemHostAlloc:2:2");
  EXPECT_EQ(error_of([&] { device.graph_runner(); }),
            "GPU 0 (simulated GPU): 1048576 bytes of pinned memory could not be allocated");
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
