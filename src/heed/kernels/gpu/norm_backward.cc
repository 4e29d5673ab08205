#include "heed/kernels/gpu/code/reductions/norm_backward.h"

#include <algorithm>

#include "heed/base/rounding.h"
#include "heed/kernels/gpu/launch_elements.h"
#include "heed/kernels/norm.h"

namespace heed::kernels::gpu {
namespace {

/// d_weight and d_bias += their sums over rows. Each part of the rows is summed by itself, then the
/// parts are added in their order; the number of rows alone decides what the parts are.
void sum_norm_columns(const Tensor& x, const Tensor& stats, const Tensor& dy, Tensor& d_weight,
                      Tensor* d_bias) {
  constexpr int64_t kMinRows = 16, kMaxParts = 128;
  constexpr unsigned kThreads = 64;
  const int64_t rows_of_part = std::max(kMinRows, ceil_div(x.rows(), kMaxParts));
  const int64_t parts = ceil_div(x.rows(), rows_of_part);
  const int columns = static_cast<int>(x.cols());
  Tensor weight_parts = Tensor::empty({parts, x.cols()}), bias_parts;
  if (d_bias) bias_parts = Tensor::empty(weight_parts.shape());
  const LaunchShape shape{
      .x = blocks_for(columns, kThreads), .y = static_cast<unsigned>(parts), .threads = kThreads};
  launch(by_dtype(x.dtype(), "norm_backward_parts_f32", "norm_backward_parts_bf16"), shape,
         NormPartsArguments{memory(x), memory(dy), elements<float>(stats),
                            elements<float>(weight_parts), elements<float>(bias_parts), x.rows(),
                            rows_of_part, columns});
  launch("norm_backward_add_parts", {.x = shape.x, .threads = kThreads},
         AddNormPartsArguments{
             elements<float>(weight_parts), elements<float>(bias_parts), elements<float>(d_weight),
             d_bias ? elements<float>(*d_bias) : nullptr, static_cast<int>(parts), columns});
}

/// Rows are centred if there is a gradient of a bias.
void norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                   RmsNormGradients gradients, Tensor* d_bias) {
  constexpr unsigned kWarps = 8;
  const Tensor& x = in.x;
  if (x.elements() == 0) return;
  launch(by_dtype(x.dtype(), "norm_backward_f32", "norm_backward_bf16"),
         {.x = blocks_for(x.rows(), kWarps), .threads = 32 * kWarps},
         NormBackwardArguments{memory(x), memory(dy), elements<float>(in.weight),
                               elements<float>(stats), memory(gradients.dx), x.rows(),
                               static_cast<int>(x.cols()), d_bias != nullptr});
  sum_norm_columns(x, stats, dy, gradients.d_weight, d_bias);
}

}  // namespace

void layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                         LayerNormGradients gradients) {
  norm_backward({in.x, in.weight, in.epsilon}, stats, dy, {gradients.dx, gradients.d_weight},
                &gradients.d_bias);
}

void rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                       RmsNormGradients gradients) {
  norm_backward(in, stats, dy, gradients, nullptr);
}

}  // namespace heed::kernels::gpu
