#include "heed/kernels/elementwise.h"

#include <vector>

#include "heed/kernels/gpu/code/elements/elementwise.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void add_to(const Tensor& x, Tensor& y) {
  if (y.elements() == 0) return;
  const char* const kernel =
      by_dtype(x.dtype(), by_dtype(y.dtype(), "add_to_f32_f32", "add_to_f32_bf16"),
               by_dtype(y.dtype(), "add_to_bf16_f32", "add_to_bf16_bf16"));
  launch(kernel, shape_of_elements(y.elements(), {x.dtype(), y.dtype()}),
         ElementwiseArguments{memory(x), memory(y), y.elements(), 1.0f});
}

void scale(float factor, Tensor& y) {
  if (y.elements() == 0) return;
  launch(by_dtype(y.dtype(), "scale_f32", "scale_bf16"),
         shape_of_elements(y.elements(), {y.dtype()}),
         ElementwiseArguments{nullptr, memory(y), y.elements(), factor});
}

void convert(const Tensor& x, Tensor& y) {
  if (y.elements() == 0) return;
  const char* const kernel =
      by_dtype(x.dtype(), by_dtype(y.dtype(), "convert_f32_f32", "convert_f32_bf16"),
               by_dtype(y.dtype(), "convert_bf16_f32", "convert_bf16_bf16"));
  launch(kernel, shape_of_elements(y.elements(), {x.dtype(), y.dtype()}),
         ElementwiseArguments{memory(x), memory(y), y.elements(), 1.0f});
}

double sum_of_all_squares(std::span<const Tensor> tensors) {
  constexpr int64_t kChunk = int64_t{1} << 16;
  constexpr unsigned kThreads = 512;
  constexpr size_t kShared = kThreads / 32 * sizeof(double);
  std::vector<SquaresChunk> chunks;
  for (const Tensor& x : tensors)
    for (int64_t begin = 0; begin < x.elements(); begin += kChunk)
      chunks.push_back({elements<float>(x) + begin, std::min(kChunk, x.elements() - begin)});
  if (chunks.empty()) return 0.0;
  const auto count = static_cast<int64_t>(chunks.size());
  const Uploaded<SquaresChunk> uploaded{std::span<const SquaresChunk>(chunks)};
  const std::shared_ptr<std::byte> block =
      current_gpu().allocate((chunks.size() + 1) * sizeof(double));
  auto* const sums = reinterpret_cast<double*>(block.get());
  const SumOfSquaresArguments arguments{uploaded.data(), sums + 1, sums, count};
  launch("sums_of_squares",
         {.x = static_cast<unsigned>(count), .threads = kThreads, .shared_bytes = kShared},
         arguments);
  launch("sum_of_sums", {.threads = kThreads, .shared_bytes = kShared}, arguments);
  double sum = 0.0;
  current_gpu().copy_to_host(std::as_writable_bytes(std::span(&sum, 1)), block.get());
  return sum;
}

}  // namespace heed::kernels::gpu
