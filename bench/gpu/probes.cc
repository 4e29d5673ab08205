// Asks a GPU what heed's model of it assumes (src/gpu_simulator/), and what starting work costs.
//   gpu_probes [mma | exp2 | launch] [--tiny] [--dump DIRECTORY]
//   mma     chains of mma.m16n8k16 over random bf16: elements whose bits differ from the model's
//   exp2    ex2.approx of all finite numbers against exp2(): the largest difference in ulp
//   launch  microseconds of an empty kernel and of small copies
// With --dump, mma leaves the factors and the products of one chain for peers.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gpu/probes.h"
#include "gpu_simulator/tensor_core.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/gpu/graph.h"

namespace heed::gpu_bench {
extern const std::vector<std::span<const std::byte>> kernel_images;  // cmake/HeedGpuKernels.cmake

namespace {

using gpu::Gpu;
using Clock = std::chrono::steady_clock;

struct Settings {
  bool tiny = false;
  std::string dump;
};

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <typename T>
std::vector<T> on_host(Gpu& gpu, const std::shared_ptr<std::byte>& memory, size_t count) {
  std::vector<T> values(count);
  gpu.copy_to_host(std::as_writable_bytes(std::span(values)), memory.get());
  return values;
}

/// Random bf16 whose exponents are within `spread` of zero.
std::vector<uint16_t> random_bf16(size_t count, int spread, uint64_t seed) {
  const CounterRandom random(seed);
  std::vector<uint16_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = random.bits(i);
    const auto exponent = static_cast<uint64_t>(127 - spread) + (bits >> 16) % (2u * spread + 1);
    values[i] = static_cast<uint16_t>((bits & 0x807f) | exponent << 7);
  }
  return values;
}

float wide(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// Element [row, column] of a tile by the model.
float chain_of_model(const uint16_t* a, const uint16_t* b, int k,
                     gpu_simulator::TensorCores cores) {
  float sum = 0;
  for (int begin = 0; begin < k; begin += 16) {
    std::array<float, 16> x, y;
    for (size_t i = 0; i < 16; ++i) {
      x[i] = wide(a[static_cast<size_t>(begin) + i]);
      y[i] = wide(b[static_cast<size_t>(begin) + i]);
    }
    sum = gpu_simulator::sum_of_16(x, y, sum, cores);
  }
  return sum;
}

template <typename T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

/// Chains over k in some tiles; the elements that differ from those of the model.
void compare_chains(Gpu& gpu, int k, int spread, int tiles, const Settings& settings) {
  const auto blocks = static_cast<size_t>(tiles), depth = static_cast<size_t>(k);
  const auto a = random_bf16(blocks * 16 * depth, spread, 1);
  const auto b = random_bf16(blocks * 8 * depth, spread, 2);
  const auto a_memory = gpu.allocate(a.size() * 2), b_memory = gpu.allocate(b.size() * 2);
  const auto d_memory = gpu.allocate(blocks * 128 * sizeof(float));
  gpu.copy_to_device(a_memory.get(), bytes_of(a));
  gpu.copy_to_device(b_memory.get(), bytes_of(b));
  gpu.launch("probe_chain", {.x = static_cast<unsigned>(tiles), .threads = 32},
             ChainArguments{reinterpret_cast<const uint16_t*>(a_memory.get()),
                            reinterpret_cast<const uint16_t*>(b_memory.get()),
                            reinterpret_cast<float*>(d_memory.get()), k});
  const auto found = on_host<float>(gpu, d_memory, blocks * 128);
  const auto cores = gpu.properties().major >= 9 ? gpu_simulator::TensorCores::hopper
                                                 : gpu_simulator::TensorCores::ampere;
  std::mutex mutex;
  size_t different = 0;
  std::string example;
  parallel_for(static_cast<int64_t>(found.size()), 8, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const size_t tile = i / 128, row = i % 128 / 8, column = i % 8;
      const float expected =
          chain_of_model(&a[(tile * 16 + row) * depth], &b[(tile * 8 + column) * depth], k, cores);
      if (std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(found[i])) continue;
      const std::lock_guard lock(mutex);
      ++different;
      example = fmt::format("; such as {:a} instead of {:a}", found[i], expected);
    }
  });
  fmt::print("mma K={} exponents +-{}: {} of {} elements differ{}\n", k, spread, different,
             found.size(), example);
  if (settings.dump.empty() || k != 4096 || spread != 4) return;
  write(settings.dump + "/probe_a.bin", a);
  write(settings.dump + "/probe_b.bin", b);
  write(settings.dump + "/probe_d.bin", found);
}

void probe_mma(Gpu& gpu, const Settings& settings) {
  for (const int k : {16, 64, 1024, 4096, 16384})
    for (const int spread : {0, 4, 30, 60}) {
      if (settings.tiny && k > 64) continue;
      compare_chains(gpu, k, spread, settings.tiny ? 2 : k > 1024 ? 16 : 64, settings);
      std::fflush(stdout);
    }
}

/// How far apart two numbers of one sign are, in steps of f32.
int64_t ulps_between(float a, float b) {
  return std::abs(int64_t{std::bit_cast<uint32_t>(a)} - int64_t{std::bit_cast<uint32_t>(b)});
}

struct Exp2Report {
  int64_t largest = 0, inexact = 0, normal = 0, wrong = 0;
  float at = 0, wrong_at = 0;

  void add(float x, float found) {
    const double exact = std::exp2(static_cast<double>(x));
    if (exact < 0x1p-126) {  // .ftz: what is not normal becomes zero, or the smallest normal number
      if (found != 0 && found != 0x1p-126f) ++wrong, wrong_at = x;
    } else if (exact > std::numeric_limits<float>::max()) {
      if (!std::isinf(found) && found != std::numeric_limits<float>::max()) ++wrong, wrong_at = x;
    } else {
      ++normal;
      const int64_t ulps = ulps_between(found, static_cast<float>(exact));
      inexact += ulps != 0;
      if (ulps > largest) largest = ulps, at = x;
    }
  }
  void add(const Exp2Report& other) {
    if (other.largest > largest) largest = other.largest, at = other.at;
    if (other.wrong > 0) wrong_at = other.wrong_at;
    inexact += other.inexact;
    normal += other.normal;
    wrong += other.wrong;
  }
};

void probe_exp2(Gpu& gpu, const Settings& settings) {
  const uint32_t chunk = settings.tiny ? 1u << 8 : 1u << 24;
  const uint32_t stride = settings.tiny ? 1u << 26 : chunk;
  const auto memory = gpu.allocate(chunk * sizeof(float));
  std::mutex mutex;
  Exp2Report all;
  const auto start = Clock::now();
  double seconds = 0;
  uint64_t inputs = 0;
  // Positive and negative numbers in turns: a run that is cut has seen small ones of both.
  for (uint32_t first = 0; first < 0x7f800000u && seconds < 20; first += stride) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      gpu.launch("probe_exp2", {.x = chunk / 256, .threads = 256},
                 Exp2Arguments{reinterpret_cast<float*>(memory.get()), first | sign});
      const auto found = on_host<float>(gpu, memory, chunk);
      parallel_for(chunk, 1 << 14, [&](int64_t begin, int64_t end) {
        Exp2Report part;
        for (auto i = static_cast<uint32_t>(begin); i < static_cast<uint32_t>(end); ++i) {
          const float x = std::bit_cast<float>((first | sign) + i);
          if (std::isfinite(x)) part.add(x, found[i]);
        }
        const std::lock_guard lock(mutex);
        all.add(part);
      });
      inputs += chunk;
    }
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  fmt::print(
      "exp2: of {} inputs {} have a normal result; {} of these not the nearest, at most {} "
      "ulp away, at {:a}; {} others wrong (such as {:a})\n",
      inputs, all.normal, all.inexact, all.largest, all.at, all.wrong, all.wrong_at);
}

/// Microseconds of a call, and of each with those before it, until the GPU has done them.
template <typename Call>
void time_calls(Gpu& gpu, std::string_view name, int count, const Call& call) {
  for (int i = 0; i < 10; ++i) call();
  gpu.synchronize();
  double called = 1e9, done = 1e9;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) call();
    const std::chrono::duration<double, std::micro> calls = Clock::now() - start;
    gpu.synchronize();
    const std::chrono::duration<double, std::micro> all = Clock::now() - start;
    called = std::min(called, calls.count() / count);
    done = std::min(done, all.count() / count);
  }
  fmt::print("launch {}: {:.2f} us a call, {:.2f} us until done\n", name, called, done);
}

/// Many empty kernels and copies from pinned memory, recorded and started as one.
void time_graphs(Gpu& gpu, const Settings& settings) {
  const int count = settings.tiny ? 2 : 300;
  const auto memory = gpu.allocate(4096);
  const std::vector<std::byte> values(4096);
  const auto time_graph = [&](std::string_view name, const std::function<void()>& work) {
    gpu::GraphRunner graphs(gpu);
    const auto run = [&] {
      graphs.run(0, [&] {
        for (int i = 0; i < count; ++i) work();
      });
    };
    run();  // without a graph
    gpu.synchronize();
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::micro> made = Clock::now() - start;
    fmt::print("launch graph of {} {}: {:.0f} us to make; ", count, name, made.count());
    time_calls(gpu, "of it", settings.tiny ? 2 : 20, run);
  };
  time_graph("empty kernels",
             [&] { gpu.launch("probe_nothing", {.x = 1, .threads = 128}, NothingArguments{0}); });
  time_graph("kernels with an upload", [&] {
    gpu.copy_to_device(memory.get(), values);
    gpu.launch("probe_nothing", {.x = 1, .threads = 128}, NothingArguments{0});
  });
}

void probe_launch(Gpu& gpu, const Settings& settings) {
  const int count = settings.tiny ? 2 : 1000;
  const auto nothing = [&](unsigned blocks) {
    gpu.launch("probe_nothing", {.x = blocks, .threads = 128}, NothingArguments{0});
  };
  time_calls(gpu, "empty kernel", count, [&] { nothing(1); });
  time_calls(gpu, "empty kernel of 132 blocks", count, [&] { nothing(settings.tiny ? 2 : 132); });
  time_calls(gpu, "empty kernel, each waited for", count, [&] {
    nothing(1);
    gpu.synchronize();
  });
  const size_t most = size_t{1} << 20;
  const auto memory = gpu.allocate(most);
  std::vector<std::byte> values(most);
  for (const size_t bytes : {size_t{64}, size_t{4096}, size_t{65536}})
    time_calls(gpu, fmt::format("copy of {} bytes to the GPU", bytes), std::max(1, count / 10),
               [&] { gpu.copy_to_device(memory.get(), std::span(values).first(bytes)); });
  for (const size_t bytes : {size_t{4}, size_t{4096}, most})
    time_calls(gpu, fmt::format("copy of {} bytes to the host", bytes), std::max(1, count / 10),
               [&] { gpu.copy_to_host(std::span(values).first(bytes), memory.get()); });
  time_calls(gpu, "copy of 64 bytes on the GPU", count,
             [&] { gpu.copy(memory.get() + 4096, memory.get(), 64); });
  time_calls(gpu, "allocation of 64 KiB", count, [&] { gpu.allocate(size_t{64} << 10); });
}

void probe(const std::string& part, const Settings& settings) {
  Gpu gpu(0, kernel_images);
  fmt::print("{}, compute capability {}.{}, {} multiprocessors, {} bytes of shared memory\n",
             gpu.name(), gpu.properties().major, gpu.properties().minor,
             gpu.properties().multiprocessors, gpu.properties().shared_bytes);
  if (part.empty() || part == "mma") probe_mma(gpu, settings);
  if (part.empty() || part == "launch") {
    probe_launch(gpu, settings);
    time_graphs(gpu, settings);
  }
  if (part.empty() || part == "exp2") probe_exp2(gpu, settings);
}

}  // namespace
}  // namespace heed::gpu_bench

int main(int argc, char** argv) {
  heed::gpu_bench::Settings settings;
  std::string part;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--tiny")
      settings.tiny = true;
    else if (argument == "--dump" && i + 1 < argc)
      settings.dump = argv[++i];
    else
      part = argument;
  }
  try {
    heed::gpu_bench::probe(part, settings);
  } catch (const heed::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
