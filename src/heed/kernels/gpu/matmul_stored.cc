#include "heed/kernels/matmul_stored.h"

#include <algorithm>

#include "heed/base/rounding.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gpu/code/products/matmul_stored.h"
#include "heed/kernels/gpu/kernel_names.h"
#include "heed/kernels/gpu/launch.h"
#include "heed/kernels/quantize.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kStoredThreads = 128;
// Rows of a from which on blocks are converted once to f32 instead of for every kStoredRows.
constexpr int64_t kConvertedRows = 4 * kStoredRows;
// Of the weight in f32 at a time.
constexpr int64_t kConvertedBytes = int64_t{64} << 20;

/// For one row of a, and for more.
constexpr KernelNames kStoredOne("matmul_stored_one"), kStoredMany("matmul_stored");

/// Columns [first, first + weight.rows()) of c.
void multiply_columns(const Tensor& a, const Tensor& weight, const Tensor& bias, int64_t first,
                      Tensor& c) {
  const KernelNames& kernels = a.rows() == 1 ? kStoredOne : kStoredMany;
  const float* const all_bias = elements<float>(bias);
  launch(kernels.of(weight.dtype()),
         {.x = blocks_for(weight.rows(), kStoredThreads / 32 * kStoredColumns),
          .y = a.rows() == 1 ? 1 : blocks_for(a.rows(), kStoredRows),
          .threads = kStoredThreads},
         MatmulStoredArguments{.a = elements<float>(a),
                               .weight = memory(weight),
                               .bias = all_bias ? all_bias + first : nullptr,
                               .c = memory(c) + first * size_of(c.dtype()),
                               .weight_row_bytes = weight.row_bytes(),
                               .c_stride = c.cols(),
                               .rows = static_cast<int>(a.rows()),
                               .columns = static_cast<int>(weight.rows()),
                               .depth = static_cast<int>(a.cols()),
                               .c_is_bf16 = c.dtype() == DType::bf16});
}

}  // namespace

void matmul_stored(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c) {
  visit_stored(weight.dtype(), [](auto) {});
  visit_floating(a.dtype(), [](auto) {});
  visit_floating(c.dtype(), [](auto) {});
  if (c.elements() == 0) return;
  Tensor wide = a;
  if (a.dtype() != DType::f32) {
    wide = Tensor::empty(a.shape());
    gpu::convert(a, wide);
  }
  if (is_plain(weight.dtype()) || a.rows() < kConvertedRows || a.cols() == 0)
    return multiply_columns(wide, weight, bias, 0, c);
  const int64_t row_bytes = a.cols() * size_of(DType::f32);
  const int64_t at_a_time =
      std::min(weight.rows(), std::max<int64_t>(1, kConvertedBytes / row_bytes));
  Tensor converted = Tensor::empty({at_a_time, a.cols()});
  for (int64_t first = 0; first < weight.rows(); first += at_a_time) {
    const int64_t count = std::min(at_a_time, weight.rows() - first);
    Tensor part = converted.row_slice(0, count);
    gpu::dequantize(weight.row_slice(first, first + count), part);
    multiply_columns(wide, part, bias, first, c);
  }
}

}  // namespace heed::kernels::gpu
