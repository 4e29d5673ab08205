// Times heed's kernels on a GPU, beside the least time that bytes and operations take, and checks
// what they computed: some elements in double precision, and that a row alone has the bits that it
// has among others. A line of CSV for each: work, microseconds, floor, share of the floor, check.
//   gpu_kernels_bench [--part TEXT,TEXT...] [--graph] [--tiny]
//                     [--bandwidth BYTES/S] [--bf16 FLOP/S] [--f32 FLOP/S]
// --part: cases whose names contain one of the texts; those of tiles are left out without it.
// --graph: runs are recorded and started as one, so that what the host does for each of them is not
// counted.
#include "bench/gpu/kernels_bench.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "heed/base/rounding.h"
#include "heed/gpu/graph.h"

namespace heed::gpu_bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> parts;
  bool graph = false;
  double bandwidth = 3.0e12, bf16 = 798e12, f32 = 60e12;

  bool names(const Case& of) const {
    if (parts.empty()) return !of.work.starts_with("tile");
    return std::ranges::any_of(
        parts, [&](const auto& part) { return of.work.find(part) != of.work.npos; });
  }
};

/// Seconds of a run: the median of several series without a pause.
double seconds_of_runs(const std::function<void()>& run) {
  const auto series = [&](int runs) {
    const auto start = Clock::now();
    for (int i = 0; i < runs; ++i) run();
    the_gpu().synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count() / runs;
  };
  series(1);
  if (tiny()) return series(1);
  const double estimate = std::min(series(3), series(3));
  const int runs = std::clamp(static_cast<int>(3e-3 / estimate), 5, 1000);
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 9 && std::chrono::duration<double>(Clock::now() - start).count() < 1.0)
    times.push_back(series(runs));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

double seconds_of(const Prepared& work, bool as_graph) {
  size_t next = 0;
  if (!as_graph) return seconds_of_runs([&] { work.run(next++); });
  const size_t count = tiny() ? 2 : 50;
  gpu::GraphRunner graphs(the_gpu());
  const auto run = [&] {
    graphs.run(0, [&] {
      for (size_t i = 0; i < count; ++i) work.run(i);
    });
  };
  return seconds_of_runs(run) / static_cast<double>(count);
}

double floor_of(const Case& of, const Options& options) {
  const double rate = of.unit == Unit::f32    ? options.f32
                      : of.unit == Unit::int8 ? 2 * options.bf16
                                              : options.bf16;
  return std::max(of.bytes / options.bandwidth, of.operations / rate);
}

/// Whether the GPU still works.
bool measure(const Case& of, const Options& options) {
  try {
    const Prepared work = of.prepare();
    work.run(0);
    the_gpu().synchronize();
    const std::string check = work.check ? work.check() : "";
    const double seconds = seconds_of(work, options.graph), least = floor_of(of, options);
    fmt::print("{}{},{:.2f},{:.2f},{:.3f},{}\n", of.work, options.graph ? " graph" : "",
               seconds * 1e6, least * 1e6, least / seconds, check);
    std::fflush(stdout);
    return true;
  } catch (const Error& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), ',', ';');
    std::replace(text.begin(), text.end(), '\n', ' ');
    const bool missing = text.ends_with("does not run on a GPU");
    fmt::print("{},,,,{}: {}\n", of.work, missing ? "skipped" : "FAILED", text);
    std::fflush(stdout);
    return missing;
  }
}

}  // namespace

gpu::Gpu& the_gpu() { return static_cast<gpu::Gpu&>(kernels::open_gpu(0)); }

bool& tiny() {
  static bool is_tiny = false;
  return is_tiny;
}

int64_t width(int64_t n) { return tiny() ? round_up(std::max<int64_t>(n / 16, 1), 256) : n; }
int64_t count(int64_t n) { return tiny() ? std::min<int64_t>(n, 5) : n; }

const std::vector<float>& base_values() {
  static const std::vector<float> values = [] {
    std::vector<float> made(kPeriod);
    const CounterRandom random(1);
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<float>(bfloat16(static_cast<float>(random.uniform(i) - 0.5)));
    return made;
  }();
  return values;
}

Tensor repeated(const Tensor& on_host, const Shape& shape) {
  Tensor all = Tensor::empty(shape, on_host.dtype());
  const auto bytes = static_cast<size_t>(all.bytes());
  size_t done = std::min(bytes, static_cast<size_t>(on_host.bytes()));
  gpu::Gpu& gpu = the_gpu();
  std::byte* const memory = all.memory_of(&gpu);
  gpu.copy_to_device(memory, {on_host.raw(), done});
  gpu.synchronize();
  for (; done < bytes; done = std::min(bytes, 2 * done))
    gpu.copy(memory + done, memory, std::min(done, bytes - done));
  return all;
}

Tensor random_tensor(const Shape& shape, DType dtype) {
  Tensor base;
  {
    const DeviceScope host(nullptr);
    base = Tensor::empty({static_cast<int64_t>(kPeriod)}, dtype);
    visit_floating(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (size_t i = 0; i < kPeriod; ++i) base.data<T>()[i] = T(base_values()[i]);
    });
  }
  return repeated(base, shape);
}

std::vector<float> values_of(const Tensor& x) {
  const Tensor on_host = x.to(nullptr);
  std::vector<float> values(static_cast<size_t>(x.elements()));
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(on_host.data<T>()[i]);
  });
  return values;
}

std::string same_bits(const Tensor& a, const Tensor& b) {
  const Tensor first = a.to(nullptr), second = b.to(nullptr);
  const bool same = first.bytes() == second.bytes() &&
                    std::memcmp(first.raw(), second.raw(), static_cast<size_t>(a.bytes())) == 0;
  return same ? "same bits" : "OTHER BITS ALONE";
}

std::string within(double error, double limit) {
  return fmt::format("{} {:.1e}", error <= limit ? "error" : "WRONG", error);
}

size_t copies(int64_t bytes) {
  constexpr int64_t kBeyondCaches = 256 << 20;
  return tiny() ? 2 : static_cast<size_t>(std::clamp<int64_t>(kBeyondCaches / bytes, 2, 128));
}

}  // namespace heed::gpu_bench

namespace heed::gpu_bench {
namespace {

/// Cases from number `first` in a process of their own, which a kernel that faults or hangs ends.
/// `reached`: the number of the case that it came to.
int run_from(size_t first, const std::vector<Case>& cases, const Options& options,
             volatile size_t& reached) {
  constexpr unsigned kSeconds = 30;
  try {
    const DeviceScope scope(&the_gpu());
    for (size_t i = first; i < cases.size(); ++i) {
      reached = i;
      ::alarm(kSeconds);
      if (!measure(cases[i], options)) return 1;
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

int run(const Options& options) {
  std::vector<Case> cases;
  for (const auto& all :
       {matmul_cases(), block_cases(), attention_cases(), row_cases(), tile_cases()})
    for (const Case& of : all)
      if (options.names(of)) cases.push_back(of);
  void* const shared =
      ::mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  volatile size_t& reached = *static_cast<size_t*>(shared);
  for (size_t first = 0; first < cases.size(); first = reached + 1) {
    const pid_t child = ::fork();
    if (child == 0) {
      const int status = run_from(first, cases, options, reached);
      std::fflush(nullptr);
      ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return 1;
    if (WIFSIGNALED(status)) {
      fmt::print("{},,,,FAILED: ended by signal {}\n", cases[reached].work, WTERMSIG(status));
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace heed::gpu_bench

int main(int argc, char** argv) {
  using namespace heed::gpu_bench;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--tiny" || option == "--graph") {
      (option == "--tiny" ? tiny() : options.graph) = true;
      continue;
    }
    const char* const value = ++i < argc ? argv[i] : "";
    if (option == "--part")
      options.parts = parts_of(value);
    else if (option == "--bandwidth")
      options.bandwidth = std::atof(value);
    else if (option == "--bf16")
      options.bf16 = std::atof(value);
    else if (option == "--f32")
      options.f32 = std::atof(value);
    else
      return fmt::print(stderr, "unknown option {}\n", option), 1;
  }
  return run(options);
}
