#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/gpu/gpu.h"
#include "heed/kernels/gpu/open.h"
#include "heed/tensor/tensor.h"

// What the cases of kernels_bench.cc are made of. All tensors are on the GPU.

namespace heed::gpu_bench {

/// What executes a kernel's operations.
enum class Unit { bf16, f32, int8 };

/// A kernel with its tensors.
struct Prepared {
  /// The i-th run; other memory than the last one's where caches would hold it.
  std::function<void(size_t i)> run;
  /// After run(0): what is right and wrong about its result, in words, without commas.
  std::function<std::string()> check = {};
};

/// A kernel of one size.
struct Case {
  std::string work;  // "matmul bf16 M=8 4096x14336": peers.py has the same names
  double bytes;      // that it reads and writes at least
  double operations;
  Unit unit;
  std::function<Prepared()> prepare;
};

std::vector<Case> matmul_cases();
/// Products by every tile: only asked for by name.
std::vector<Case> tile_cases();
std::vector<Case> block_cases();
std::vector<Case> attention_cases();
std::vector<Case> row_cases();

gpu::Gpu& the_gpu();

/// Whether everything is to be small: for the simulated GPU.
bool& tiny();
/// A width, a multiple of 256 when it is small, and a number of rows.
int64_t width(int64_t n);
int64_t count(int64_t n);

/// Element i of a random tensor is base_values()[i % kPeriod], which bf16 holds exactly.
inline constexpr size_t kPeriod = 1'000'003;
const std::vector<float>& base_values();
inline double base_value(int64_t i) { return base_values()[static_cast<size_t>(i) % kPeriod]; }

/// Numbers between -0.5 and 0.5.
Tensor random_tensor(const Shape& shape, DType dtype);
/// The host's tensor again and again.
Tensor repeated(const Tensor& on_host, const Shape& shape);

std::vector<float> values_of(const Tensor& x);
std::string same_bits(const Tensor& a, const Tensor& b);
/// "error 1e-3", or "WRONG 1e-3".
std::string within(double error, double limit);

/// How many tensors of this size caches cannot hold.
size_t copies(int64_t bytes);

}  // namespace heed::gpu_bench
