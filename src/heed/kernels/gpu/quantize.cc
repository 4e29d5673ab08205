#include "heed/kernels/quantize.h"

#include "heed/kernels/gpu/code/blocks/quantize.h"
#include "heed/kernels/gpu/kernel_names.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kDequantizeThreads = 256;

constexpr KernelNames kDequantize("dequantize");

void start_dequantize(const Tensor& x, const int32_t* rows, int64_t count, Tensor& y) {
  require(x.dtype() != DType::i32, "the values of i32 are not those of a weight");
  if (count == 0 || x.cols() == 0) return;
  const int64_t fours = (x.cols() + 3) / 4;
  launch(kDequantize.of(x.dtype()),
         {.x = blocks_for(count * fours, kDequantizeThreads), .threads = kDequantizeThreads},
         DequantizeArguments{memory(x), rows, elements<float>(y), count, x.cols(), x.row_bytes()});
}

}  // namespace

void dequantize(const Tensor& x, Tensor& y) { start_dequantize(x, nullptr, x.rows(), y); }

void dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  const Uploaded<int32_t> numbers(rows);
  start_dequantize(x, numbers.data(), static_cast<int64_t>(rows.size()), y);
}

}  // namespace heed::kernels::gpu
